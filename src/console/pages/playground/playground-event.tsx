import { signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { Problem } from '../../app/api.js';
import { t } from '../../app/text.js';
import { playgroundTexts as texts } from '../../texts/playground.js';
import { Field, TextField } from '../../ui/form.js';

export type EventMembers = Readonly<Record<string, unknown>>;

/** The members of an event as JSON. Undefined if the text is not a JSON object. */
export function readEvent(text: string): EventMembers | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as EventMembers) : undefined;
  } catch {
    return undefined;
  }
}

/** The text with another value of an attribute; an empty value removes it. */
function withAttribute(event: EventMembers, name: string, value: string): string {
  const { [name]: _before, ...others } = event;
  return JSON.stringify(value === '' ? others : { ...event, [name]: value }, null, 2);
}

/** The line, from 1, on which a member of the event begins. Undefined if the text does not have it. */
function lineOf(text: string, pointer: string): number | undefined {
  const name = pointer.split('/')[1]?.replaceAll('~1', '/').replaceAll('~0', '~');
  if (name === undefined) return undefined;
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"(?=\s*(:)?)|[{}[\]]/g)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (depth === 1 && /^\s*:/.test(text.slice(index + token.length)) && token.slice(1, -1) === name) {
      return text.slice(0, index).split('\n').length;
    }
  }
  return undefined;
}

/** Events to start from. Their names are in the texts. */
export const examples = {
  least: { specversion: '1.0', id: 'A-1', source: 'https://example.com/shop', type: 'com.example.order.created' },
  nlGov: {
    specversion: '1.0',
    id: 'f3dce042-cd6e-4977-844d-05be8dce7cea',
    source: 'urn:nld:oin:00000001823288444000:systeem:BRP-component',
    type: 'nl.overheid.zaken.zaakstatus-gewijzigd',
    subject: 'zaak-2026-000123',
  },
  data: {
    specversion: '1.0',
    id: 'A-2',
    source: 'https://example.com/shop',
    type: 'com.example.order.created',
    subject: 'order-4711',
    datacontenttype: 'application/json',
    data: { lines: 3, total: '41.50' },
  },
  belgif: {
    specversion: '1.0',
    id: 'A-3',
    source: 'https://services.example.be/employer/v1',
    type: 'be.nsso.employer.v1.addresses.notify.updated',
    service: 'be.nsso.employer.v1',
  },
} as const;

export type Example = keyof typeof examples;

const usual = ['type', 'source', 'subject', 'id'];

/** Kept while the console is open. */
const view = signal<'json' | 'fields'>('json');

/** The event as JSON, or its usual attributes as fields: two views of one text. */
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
      <div class="actions" role="group" aria-label={t(texts.view)}>
        {(['json', 'fields'] as const).map((name) => (
          <button
            key={name}
            type="button"
            class="chip"
            aria-pressed={view.value === name}
            onClick={() => (view.value = name)}
          >
            {t(texts.views[name])}
          </button>
        ))}
      </div>
      {view.value === 'json' ? (
        <Field label={t(texts.event)} hint={t(texts.eventHint)}>
          {(attributes) => (
            <textarea
              {...attributes}
              aria-describedby={`${attributes['aria-describedby']} ${id}`}
              aria-invalid={faults.length > 0 || undefined}
              rows={14}
              spellcheck={false}
              value={text}
              onInput={({ currentTarget }) => onText(currentTarget.value)}
            />
          )}
        </Field>
      ) : (
        <fieldset disabled={event === undefined}>
          <legend class="unseen">{t(texts.attributes)}</legend>
          {event === undefined && <p class="soft">{t(texts.notJson)}</p>}
          {[...usual, ...extra].map((name) => {
            const value = event?.[name];
            return (
              <TextField
                key={name}
                label={name}
                problem={problem}
                pointer={`/${name}`}
                spellcheck={false}
                autocomplete="off"
                value={typeof value === 'string' ? value : ''}
                onInput={(value) => event && onText(withAttribute(event, name, value))}
              />
            );
          })}
        </fieldset>
      )}
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
    </>
  );
}
