import { SlidersHorizontal } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { replaceQuery, route } from '../app/route.js';
import { formatNumber, fromLocalTime, t, toLocalTime } from '../app/text.js';
import { commonTexts } from '../texts/common.js';
import { Combobox } from './combobox.js';
import { TextField } from './form.js';
import { Icon } from './icon.js';
import { Menu } from './menu.js';

type Query = Readonly<Record<string, string>>;

/** Something to search by, such as `status:refused`. Its name is that of the parameter in the address, too. */
export interface SearchKey {
  name: string;
  title: string;
  /** What can be chosen; if absent, any text. */
  values?: readonly string[];
  /** For a field of its own, such as `datetime-local`. It is not for typing. */
  type?: string;
}

/** A usual search, as a button. */
export interface Chip {
  title: string;
  query: Query;
  count?: string | undefined;
}

const pauseMs = 500;

/** Parts of the text: `name:value`, with quotes around a value with spaces, and words. */
function partsIn(text: string): string[] {
  return text.match(/[^\s:]+:"[^"]*"?|\S+/g) ?? [];
}

/** What the text asks for. What is no `name:value` is the value of `words`. */
export function parseSearch(text: string, names: readonly string[], words: string): Query {
  const query: Record<string, string> = {};
  const rest: string[] = [];
  for (const part of partsIn(text)) {
    const [, name = '', value = ''] = /^([^:]+):(.*)$/.exec(part) ?? [];
    if (names.includes(name)) query[name] = value.replace(/^"|"$/g, '');
    else rest.push(part);
  }
  if (rest.length > 0) query[words] = rest.join(' ');
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));
}

export function formatSearch(query: Query, names: readonly string[], words: string): string {
  const tokens = names
    .filter((name) => query[name])
    .map((name) => `${name}:${/\s/.test(query[name] ?? '') ? `"${query[name]}"` : query[name]}`);
  return [...tokens, query[words] ?? ''].join(' ').trim();
}

/**
 * One field that takes words and `name:value`, with completion, the usual searches as buttons, and every key as a field
 * under "More". What it says is in the address. `onTyped` gets what is typed at once; the address follows when the user
 * pauses.
 */
export function SearchBar({
  label,
  words,
  keys,
  chips = [],
  onTyped,
  children,
}: {
  label: string;
  /** What else narrows the list. */
  children?: ComponentChildren;
  /** The parameter that takes what is no `name:value`. */
  words: string;
  keys: readonly SearchKey[];
  chips?: readonly Chip[];
  onTyped?: (query: Query) => void;
}) {
  const { query } = route.value;
  const all = [...keys.map(({ name }) => name), words];
  const names = keys.filter(({ type }) => type === undefined).map(({ name }) => name);
  const asked = formatSearch(query, names, words);
  const [text, setText] = useState(asked);
  const typed = useRef(asked);
  // A link to this page, or the button of the browser to go back.
  useEffect(() => {
    if (asked !== formatSearch(parseSearch(typed.current, names, words), names, words)) write(asked);
  }, [asked]);
  /** Parameters that are none of a search, such as the order, stay. */
  const others = Object.fromEntries(Object.entries(query).filter(([name]) => !all.includes(name)));
  const fields = Object.fromEntries(
    Object.entries(query).filter(([name]) => all.includes(name) && !names.includes(name) && name !== words),
  );
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const commit = (found: Query) => {
    clearTimeout(timer.current);
    replaceQuery({ ...others, ...found });
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  const write = (value: string) => {
    typed.current = value;
    setText(value);
    onTyped?.({ ...fields, ...parseSearch(value, names, words) });
  };
  const edit = (value: string) => {
    write(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => commit({ ...fields, ...parseSearch(value, names, words) }), pauseMs);
  };
  const set = (name: string, value: string) => {
    const next = { ...fields, ...parseSearch(typed.current, names, words), [name]: value };
    if (names.includes(name)) write(formatSearch(next, names, words));
    commit(next);
  };
  const toggle = (chip: Query) => {
    const present = { ...fields, ...parseSearch(typed.current, names, words) };
    const isOn = Object.entries(chip).every(([name, value]) => present[name] === value);
    const next = { ...present, ...Object.fromEntries(Object.entries(chip).map(([n, v]) => [n, isOn ? '' : v])) };
    write(formatSearch(next, names, words));
    commit(next);
  };
  return (
    <form
      class="search"
      role="search"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        commit({ ...fields, ...parseSearch(typed.current, names, words) });
      }}
    >
      <Typing label={label} text={text} keys={keys.filter(({ type }) => type === undefined)} onInput={edit} />
      {chips.map(({ title, query: chip, count }) => (
        <button
          key={title}
          type="button"
          class="chip"
          aria-pressed={Object.entries(chip).every(([name, value]) => query[name] === value)}
          onClick={() => toggle(chip)}
        >
          {title} {count !== undefined && <b>{count}</b>}
        </button>
      ))}
      {children}
      {keys.length > 0 && (
        <Menu
          look="quiet"
          button={
            <>
              <Icon of={SlidersHorizontal} />
              {t(commonTexts.more)}
            </>
          }
        >
          <div class="fields">
            {keys.map(({ name, title, values, type = 'search' }) =>
              values === undefined ? (
                <TextField
                  key={name}
                  label={title}
                  {...({ type } as object)}
                  autocomplete="off"
                  spellcheck={false}
                  value={
                    type === 'datetime-local' ? toLocalTime(query[name]) : (parseSearch(text, names, words)[name] ?? '')
                  }
                  onInput={(value) => {
                    if (type === 'datetime-local') return;
                    edit(formatSearch({ ...parseSearch(typed.current, names, words), [name]: value }, names, words));
                  }}
                  onChange={({ currentTarget: { value } }) => {
                    if (type === 'datetime-local') set(name, fromLocalTime(value) ?? '');
                  }}
                />
              ) : (
                <label key={name}>
                  {title}
                  <select value={query[name] ?? ''} onChange={({ currentTarget }) => set(name, currentTarget.value)}>
                    <option value="">{t(commonTexts.all)}</option>
                    {values.map((value) => (
                      <option key={value}>{value}</option>
                    ))}
                  </select>
                </label>
              ),
            )}
          </div>
        </Menu>
      )}
    </form>
  );
}

/** The field with its completion. */
function Typing({
  label,
  text,
  keys,
  onInput,
}: {
  label: string;
  text: string;
  keys: readonly SearchKey[];
  onInput: (text: string) => void;
}) {
  const word = /\s$/.test(text) ? '' : (partsIn(text).at(-1) ?? '');
  return (
    <Combobox
      label={label}
      placeholder={keys.length === 0 ? label : `${label}, ${t(commonTexts.examples)} ${examplesOf(keys)}`}
      text={text}
      options={completions(word, keys).map((option) => ({ key: option, content: option }))}
      onInput={onInput}
      onChoose={(option) =>
        onInput(text.slice(0, text.length - word.length) + option + (option.endsWith(':') ? '' : ' '))
      }
    />
  );
}

const examplesOf = (keys: readonly SearchKey[]) =>
  keys
    .slice(0, 3)
    .map(({ name }) => `${name}:`)
    .join(' ');

function completions(word: string, keys: readonly SearchKey[]): string[] {
  const [, name, begun = ''] = /^([^:]+):(.*)$/.exec(word) ?? [];
  if (name === undefined) return keys.filter((key) => key.name.startsWith(word)).map((key) => `${key.name}:`);
  const values = keys.find((key) => key.name === name)?.values ?? [];
  return values.filter((value) => value.startsWith(begun) && value !== begun).map((value) => `${name}:${value}`);
}

/** `10,000+` is at least that many. */
export const totalText = ({ count, isAtLeast }: { count: number; isAtLeast: boolean }) =>
  `${formatNumber(count)}${isAtLeast ? '+' : ''}`;
