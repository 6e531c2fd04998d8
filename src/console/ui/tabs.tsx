import type { ComponentChildren } from 'preact';
import { href, route } from '../app/route.js';

/** Parts of a page, each with an address of its own: `?tab=`. The first one is the page without it. */
export function Tabs<Name extends string>({
  label,
  of,
  children,
}: {
  label: string;
  of: ReadonlyArray<{ name: Name; title: string; count?: number | undefined }>;
  children: (name: Name) => ComponentChildren;
}) {
  const { page, id, query } = route.value;
  const [first] = of;
  const open = of.find(({ name }) => name === query['tab']) ?? first;
  return (
    <>
      <nav class="tabs" aria-label={label}>
        {of.map(({ name, title, count }) => (
          <a
            key={name}
            href={href(page, id, { tab: name === first?.name ? undefined : name })}
            aria-current={name === open?.name ? 'page' : undefined}
          >
            {title}
            {count !== undefined && <span class="count"> {count}</span>}
          </a>
        ))}
      </nav>
      {open !== undefined && children(open.name)}
    </>
  );
}
