import { signal } from '@preact/signals';

interface Count {
  count: number;
  /** There may be more. */
  isAtLeast: boolean;
}

/** By the place in the menu: how many there are, or for Today how many need a person. */
export const counts = signal<Readonly<Record<string, Count | undefined>>>({});
