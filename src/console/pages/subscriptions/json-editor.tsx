import { useRef } from 'preact/hooks';
import type { Problem } from '../../app/api.js';
import { t } from '../../app/text.js';
import { registerTexts as texts } from '../../texts/register.js';
import { lineAt, placeOf } from './json-places.js';
import { Field, faultsAt } from '../../ui/field.js';

/** JSON that a person edits. Each fault below it leads to its place in the text. */
export function JsonEditor({
  label,
  hint,
  value,
  onInput,
  problem,
  pointer,
  rows = 5,
}: {
  label: string;
  hint?: string;
  value: string;
  onInput: (text: string) => void;
  problem: Problem | undefined;
  pointer: string;
  rows?: number;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const places = faultsAt(problem, pointer).flatMap((fault) => {
    const place = placeOf(value, fault.pointer.slice(pointer.length));
    return place === undefined ? [] : [{ ...place, line: lineAt(value, place.from) }];
  });
  const select = ({ from, to }: { from: number; to: number }) => {
    area.current?.focus();
    area.current?.setSelectionRange(from, to);
  };
  return (
    <Field label={label} hint={hint} problem={problem} pointer={pointer}>
      {(attributes) => (
        <>
          <textarea
            {...attributes}
            ref={area}
            rows={Math.min(24, Math.max(rows, value.split('\n').length))}
            spellcheck={false}
            value={value}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
          {places.length > 0 && (
            <p class="actions">
              {places.map((place) => (
                <button key={`${place.from} ${place.to}`} type="button" onClick={() => select(place)}>
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
