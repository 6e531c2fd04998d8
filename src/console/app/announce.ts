import { signal } from '@preact/signals';

/** What was done last, shown for a while and read out by screen readers. */
export const announcement = signal('');

let timer: ReturnType<typeof setTimeout> | undefined;

export function announce(text: string): void {
  announcement.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => (announcement.value = ''), 8_000);
}
