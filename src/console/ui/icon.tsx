import type { IconNode } from 'lucide';
import { h } from 'preact';

/** An icon of Lucide, beside a text that says the same. */
export function Icon({ of, size = 16 }: { of: IconNode; size?: number }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {of.map(([shape, attributes], place) => h(shape, { key: place, ...attributes }))}
    </svg>
  );
}
