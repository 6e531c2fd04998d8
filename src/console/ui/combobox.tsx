import { Search } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { Icon } from './icon.js';

interface Option {
  key: string;
  content: ComponentChildren;
}

/** A field with a list of what can be chosen (WAI-ARIA combobox with a list). */
export function Combobox({
  label,
  placeholder = label,
  text,
  options: all,
  isEager = false,
  onInput,
  onChoose,
}: {
  label: string;
  placeholder?: string;
  text: string;
  options: readonly Option[];
  /** The list stays open, and Enter takes the first one unless another is chosen. */
  isEager?: boolean;
  onInput: (text: string) => void;
  onChoose: (key: string) => void;
}) {
  const id = useId();
  const none = isEager ? 0 : -1;
  const input = useRef<HTMLInputElement>(null);
  const [isOpen, setIsOpen] = useState(isEager);
  const [chosen, setChosen] = useState(none);
  const options = isOpen ? all : [];
  const active = Math.min(chosen, options.length - 1);
  const choose = (key: string) => {
    setChosen(none);
    input.current?.focus();
    onChoose(key);
  };
  const move = (to: number) => {
    setChosen(to);
    document.getElementById(`${id}-${to}`)?.scrollIntoView({ block: 'nearest' });
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const option = options[active];
    if (step !== undefined && options.length > 0) {
      event.preventDefault();
      move((Math.max(active, step === 1 ? -1 : 0) + step + options.length) % options.length);
    } else if (event.key === 'Escape' && isOpen && !isEager) {
      event.preventDefault();
      setIsOpen(false);
    } else if (option !== undefined && (event.key === 'Enter' || (event.key === 'Tab' && !isEager))) {
      event.preventDefault();
      choose(option.key);
    }
  };
  return (
    <div class="typing">
      <Icon of={Search} />
      <input
        ref={input}
        type="search"
        {...({ role: 'combobox' } as object)}
        aria-label={label}
        aria-expanded={options.length > 0}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={active === -1 ? undefined : `${id}-${active}`}
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        value={text}
        onFocus={() => setIsOpen(true)}
        onBlur={() => setIsOpen(isEager)}
        onKeyDown={press}
        onInput={({ currentTarget }) => {
          setIsOpen(true);
          setChosen(none);
          onInput(currentTarget.value);
        }}
      />
      <ul id={id} role="listbox" aria-label={label} hidden={options.length === 0}>
        {options.map(({ key, content }, place) => (
          <li
            key={key}
            id={`${id}-${place}`}
            role="option"
            aria-selected={place === active}
            // The field keeps the focus, and to scroll chooses nothing.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(key)}
          >
            {content}
          </li>
        ))}
      </ul>
    </div>
  );
}
