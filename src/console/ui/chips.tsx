import { X } from 'lucide';
import { useId, useRef, useState } from 'preact/hooks';
import { t } from '../app/text.js';
import type { Problem } from '../app/api.js';
import { commonTexts } from '../texts/common.js';
import { Field } from './form.js';
import { Icon } from './icon.js';

/** Several texts in one field. Enter, a comma or leaving the field adds one; Backspace at its beginning takes the last. */
export function ChipsField({
  values,
  onChange,
  placeholder,
  suggestions = [],
  ...field
}: {
  label: string;
  hint?: string;
  problem: Problem | undefined;
  pointer: string;
  values: readonly string[];
  onChange: (values: readonly string[]) => void;
  /** While there is none. */
  placeholder: string;
  suggestions?: readonly string[];
}) {
  const [text, setText] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  const add = (typed: string) => {
    const added = typed.split(/[\n,]/).map((each) => each.trim());
    setText('');
    onChange([...new Set([...values, ...added])].filter((each) => each !== ''));
  };
  const remove = (value: string) => {
    onChange(values.filter((each) => each !== value));
    input.current?.focus();
  };
  return (
    <Field {...field}>
      {(attributes) => (
        <div class="chips">
          {values.map((value) => (
            <span key={value}>
              <bdi>{value}</bdi>
              <button
                type="button"
                class="quiet"
                aria-label={t(commonTexts.remove(value))}
                onClick={() => remove(value)}
              >
                <Icon of={X} size={12} />
              </button>
            </span>
          ))}
          <input
            {...attributes}
            ref={input}
            list={list}
            autocomplete="off"
            spellcheck={false}
            placeholder={values.length === 0 ? placeholder : ''}
            value={text}
            onInput={({ currentTarget: { value } }) => (value.includes(',') ? add(value) : setText(value))}
            onPaste={(event) => {
              const pasted = event.clipboardData?.getData('text') ?? '';
              if (!/\n/.test(pasted.trim())) return;
              event.preventDefault();
              add(text + pasted);
            }}
            onBlur={() => text !== '' && add(text)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && text !== '') {
                event.preventDefault();
                add(text);
              } else if (event.key === 'Backspace' && text === '' && values.length > 0) onChange(values.slice(0, -1));
            }}
          />
          <datalist id={list}>
            {suggestions.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        </div>
      )}
    </Field>
  );
}
