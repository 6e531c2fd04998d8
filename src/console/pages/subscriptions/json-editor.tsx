import { useRef } from 'preact/hooks';
import type { Problem } from '../../app/api.js';
import { t } from '../../app/text.js';
import { registerTexts as texts } from '../../texts/register.js';
import { Field, faultsAt } from '../../ui/form.js';

interface Place {
  from: number;
  to: number;
}

/**
 * Where the value at a JSON pointer stands in a text of valid JSON, as offsets: for a missing member, that of the object
 * around it. Undefined for a text that is no JSON.
 */
function placeOf(text: string, pointer: string): Place | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const places = placesIn(text);
  for (let path = pointer; ; path = path.slice(0, path.lastIndexOf('/'))) {
    const found = places.get(path);
    if (found !== undefined || path === '') return found;
  }
}

/** The line of an offset, from 1. */
const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

function placesIn(text: string): Map<string, Place> {
  const places = new Map<string, Place>();
  let at = 0;
  const skip = (pattern: RegExp) => {
    pattern.lastIndex = at;
    at = pattern.test(text) ? pattern.lastIndex : at;
  };
  const space = /\s*/y;
  const string = /"(?:[^"\\]|\\.)*"/y;
  const other = /[^\s,\]}]+/y;
  const read = (pointer: string) => {
    skip(space);
    const from = at;
    const open = text[at];
    if (open === '{' || open === '[') {
      at += 1;
      skip(space);
      for (let index = 0; text[at] !== '}' && text[at] !== ']'; index += 1) {
        let name = String(index);
        if (open === '{') {
          const start = at;
          skip(string);
          name = (JSON.parse(text.slice(start, at)) as string).replaceAll('~', '~0').replaceAll('/', '~1');
          skip(space);
          at += 1;
        }
        read(`${pointer}/${name}`);
        skip(space);
        if (text[at] === ',') at += 1;
        skip(space);
      }
      at += 1;
    } else skip(open === '"' ? string : other);
    places.set(pointer, { from, to: at });
  };
  read('');
  return places;
}

/** JSON that a person edits. Each fault below it leads to its place in the text, which is marked, as are `marks`. */
export function JsonEditor({
  value,
  onInput,
  marks = [],
  rows = 5,
  ...field
}: {
  label: string;
  isLabelUnseen?: boolean;
  hint?: string;
  value: string;
  onInput: (text: string) => void;
  problem: Problem | undefined;
  pointer: string;
  /** JSON pointers; those to nothing are left out. */
  marks?: readonly string[];
  rows?: number;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const places = faultsAt(field.problem, field.pointer).flatMap((fault) => {
    const place = placeOf(value, fault.pointer.slice(field.pointer.length));
    return place === undefined ? [] : [{ ...place, line: lineAt(value, place.from) }];
  });
  const marked = marks.flatMap((pointer) => {
    const place = placeOf(value, pointer);
    return place !== undefined && place.from > 0 ? [place] : [];
  });
  const select = ({ from, to }: Place) => {
    area.current?.focus();
    area.current?.setSelectionRange(from, to);
  };
  return (
    <Field {...field}>
      {(attributes) => (
        <>
          <div class="marked">
            <pre aria-hidden="true">
              {withMarks(value, [...places, ...marked])}
              {'\n'}
            </pre>
            <textarea
              {...attributes}
              ref={area}
              rows={rows}
              spellcheck={false}
              value={value}
              onInput={(event) => onInput(event.currentTarget.value)}
            />
          </div>
          {places.length > 0 && (
            <p class="links">
              {places.map((place) => (
                <button key={`${place.from} ${place.to}`} type="button" class="quiet" onClick={() => select(place)}>
                  {t(texts.goTo(String(place.line)))}
                </button>
              ))}
            </p>
          )}
        </>
      )}
    </Field>
  );
}

/** What stands in another marked place is not marked again. */
function withMarks(text: string, places: readonly Place[]) {
  let end = 0;
  const pieces = places
    .toSorted((one, other) => one.from - other.from)
    .flatMap(({ from, to }) => {
      if (from < end) return [];
      const before = text.slice(end, from);
      end = to;
      return [before, <mark key={from}>{text.slice(from, to)}</mark>];
    });
  return [...pieces, text.slice(end)];
}

/** Carries faults to fields. */
export const noProblem: Problem = { type: 'about:blank', title: '', status: 400, detail: '', code: '', requestid: '' };
