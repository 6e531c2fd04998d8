import { useEffect, useState } from 'preact/hooks';
import { AssentError } from './api.js';

/** Something that was read, with its tag for `If-Match`. */
export interface Version<T> {
  tag: string;
  value: T;
}

export interface VersionedChange<T> {
  /** What the change is made on: what the user saw, or took over. */
  base: Version<T>;
  /** Somebody was faster: `base` is now what is stored, and the user sees what is different. */
  isOvertaken: boolean;
  /** Changes it. If it was changed in between, it takes over what is stored, and throws. */
  change(work: (tag: string) => Promise<unknown>): Promise<void>;
}

/**
 * What a form or a dialog changes. `present` is what the page knows, which follows every answer and the feed. A form
 * follows it as well, where that costs nothing that was typed (`follows`).
 *
 * @param onTaken gets the version before, and the one that was taken over
 */
export function useVersion<T>(
  present: Version<T>,
  read: () => Promise<Version<T>>,
  onTaken: (before: T, now: T) => void,
  follows: (before: T, now: T) => boolean = () => false,
): VersionedChange<T> {
  const [base, setBase] = useState(present);
  const [isOvertaken, setIsOvertaken] = useState(false);
  const take = (now: Version<T>) => {
    onTaken(base.value, now.value);
    setBase(now);
  };
  useEffect(() => {
    if (present.tag !== base.tag && follows(base.value, present.value)) take(present);
  }, [present.tag]);
  return {
    base,
    isOvertaken,
    async change(work) {
      try {
        await work(base.tag);
        setIsOvertaken(false);
      } catch (error) {
        if (error instanceof AssentError && error.code === 'precondition_failed') {
          take(await read());
          setIsOvertaken(true);
        }
        throw error;
      }
    },
  };
}

/** Members that differ, with both values as text. */
export function differences(before: object, now: object): Array<{ name: string; before: string; now: string }> {
  const text = (of: object, name: string) => {
    const value = (of as Record<string, unknown>)[name] ?? '';
    return (typeof value === 'string' ? value : JSON.stringify(value)) || '–';
  };
  return [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((name) => name !== 'updatedat' && name !== 'statusdetails')
    .map((name) => ({ name, before: text(before, name), now: text(now, name) }))
    .filter((each) => each.before !== each.now);
}
