import type { IconNode } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { Icon } from './icon.js';

/** Between a button and what it opens, and to the edges of the window, in pixels. */
const gap = 6;

/**
 * A button that opens a small panel beside it, above everything. It closes when the user chooses a button or link in it,
 * clicks elsewhere or presses Escape.
 */
export function Menu({
  label,
  button,
  look = '',
  children,
}: {
  /** The name of the button, if `button` is not a text. */
  label?: string;
  button: ComponentChildren;
  look?: string;
  children: ComponentChildren;
}) {
  const id = useId();
  const opener = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const place = () => {
    const [from, own] = [opener.current?.getBoundingClientRect(), panel.current];
    if (from === undefined || own === null) return;
    const { offsetWidth: width, offsetHeight: height } = own;
    const isBelow = from.bottom + gap + height <= innerHeight || from.top < height;
    own.style.top = `${Math.max(gap, isBelow ? from.bottom + gap : from.top - gap - height)}px`;
    own.style.left = `${Math.max(gap, Math.min(from.left, innerWidth - width - gap))}px`;
  };
  return (
    <>
      <button ref={opener} type="button" class={look} aria-label={label} title={label} popovertarget={id}>
        {button}
      </button>
      <div
        ref={panel}
        id={id}
        class="menu"
        popover="auto"
        onToggle={place}
        onClick={({ target }) => {
          if ((target as Element).closest('button, a') !== null) panel.current?.hidePopover();
        }}
      >
        {children}
      </div>
    </>
  );
}

/** A line of a menu. */
export function MenuButton({
  icon,
  look = '',
  onClick,
  children,
  ...attributes
}: {
  icon?: IconNode;
  look?: string;
  onClick: () => void;
  children: ComponentChildren;
  lang?: string;
  'aria-pressed'?: boolean;
}) {
  return (
    <button type="button" class={`quiet ${look}`} onClick={onClick} {...attributes}>
      {icon && <Icon of={icon} />}
      {children}
    </button>
  );
}
