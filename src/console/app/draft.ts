import { useRef, useState } from 'preact/hooks';
import { root } from './route.js';
import { session } from './session.js';

const prefix = `assent.draft ${root.pathname}`;
/** What a user typed is not for another one. */
const keyOf = (form: string) => `${prefix} ${session.value?.identity} ${form}`;

export function storedDraft<T>(form: string): T | undefined {
  return (JSON.parse(sessionStorage.getItem(keyOf(form)) ?? 'null') as T | null) ?? undefined;
}

/** When it was sent, or cancelled. */
export const dropDraft = (form: string) => sessionStorage.removeItem(keyOf(form));

/**
 * As `useState`, for what is typed in a form: this tab keeps it over other pages and a reload, until `dropDraft`. Not for
 * secrets.
 */
export function useDraft<T extends object>(form: string, first: T): [T, (next: T | ((before: T) => T)) => void] {
  const [value, setValue] = useState<T>(() => ({ ...first, ...storedDraft<T>(form) }));
  const latest = useRef(value);
  // Stored at once, because an effect does not run if the user leaves the page before it is painted.
  const keep = (next: T | ((before: T) => T)) => {
    latest.current = typeof next === 'function' ? next(latest.current) : next;
    sessionStorage.setItem(keyOf(form), JSON.stringify(latest.current));
    setValue(latest.current);
  };
  return [value, keep];
}
