import { useId } from 'preact/hooks';
import type { Problem } from '../../app/api.js';
import { t } from '../../app/text.js';
import { playgroundTexts as texts } from '../../texts/playground.js';
import { Field } from '../../ui/field.js';
import { lineOf, readEvent, withAttribute } from './event-text.js';
import { examples, type Example } from './playground-examples.js';

const usual = ['type', 'source', 'subject', 'id'];

/** The event as JSON, and its usual attributes as fields beside it: two views of one text. */
export function EventEditor({
  text,
  onText,
  extra,
  problem,
}: {
  text: string;
  onText: (text: string) => void;
  /** More attributes that the profile of the origin requires. */
  extra: readonly string[];
  problem: Problem | undefined;
}) {
  const event = readEvent(text);
  const id = useId();
  const faults = problem?.faults ?? [];
  return (
    <>
      <Field label={t(texts.example)}>
        {(attributes) => (
          <select
            {...attributes}
            value=""
            onChange={({ currentTarget: choice }) => {
              onText(JSON.stringify(examples[choice.value as Example], null, 2));
              choice.value = '';
            }}
          >
            <option value="">{t(texts.chooseExample)}</option>
            {(Object.keys(examples) as Example[]).map((name) => (
              <option key={name} value={name}>
                {t(texts.examples[name])}
              </option>
            ))}
          </select>
        )}
      </Field>
      <div class="cards">
        <fieldset disabled={event === undefined}>
          <legend>{t(texts.attributes)}</legend>
          {event === undefined && <p class="soft">{t(texts.notJson)}</p>}
          {[...usual, ...extra].map((name) => {
            const value = event?.[name];
            return (
              <Field key={name} label={name} problem={problem} pointer={`/${name}`}>
                {(attributes) => (
                  <input
                    {...attributes}
                    spellcheck={false}
                    autocomplete="off"
                    value={typeof value === 'string' ? value : ''}
                    onInput={({ currentTarget }) => event && onText(withAttribute(event, name, currentTarget.value))}
                  />
                )}
              </Field>
            );
          })}
        </fieldset>
        <div>
          <Field label={t(texts.event)} hint={t(texts.eventHint)}>
            {(attributes) => (
              <textarea
                {...attributes}
                aria-describedby={`${attributes['aria-describedby']} ${id}`}
                aria-invalid={faults.length > 0 || undefined}
                rows={18}
                spellcheck={false}
                value={text}
                onInput={({ currentTarget }) => onText(currentTarget.value)}
              />
            )}
          </Field>
          <div id={id} role="status">
            {faults.length > 0 && (
              <>
                <p>{t(texts.faults)}</p>
                <ul class="faults">
                  {faults.map(({ pointer, rule, detail }) => (
                    <li key={pointer + rule}>
                      {lineOf(text, pointer) !== undefined && `${t(texts.line)} ${lineOf(text, pointer)}: `}
                      {pointer !== '' && <code>{pointer}</code>} <bdi>{detail}</bdi>
                    </li>
                  ))}
                </ul>
              </>
            )}
          </div>
        </div>
      </div>
    </>
  );
}
