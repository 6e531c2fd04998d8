import { signal } from '@preact/signals';
import { t } from '../../app/text.js';
import { handshakePageTexts as texts } from '../../texts/subscriptions.js';
import { Copyable } from '../../ui/value.js';
import { Field } from '../../ui/form.js';
import { linesFor, webhookSnippets } from './webhook-snippets.js';

/** Kept from one subscription to the next. */
const chosen = signal(0);

/** What the owner of a webhook pastes so that it consents to this origin. */
export function WebhookLines({
  isOpen,
  ...subscription
}: {
  origin: string;
  rate: string;
  sink: string;
  isOpen: boolean;
}) {
  const { name, code } = webhookSnippets[chosen.value] ?? { name: '', code: '' };
  return (
    <details open={isOpen}>
      <summary>
        <h2 class="in-line">{t(texts.lines)}</h2>
      </summary>
      <p>{t(texts.linesHint)}</p>
      <Field label={t(texts.framework)}>
        {(attributes) => (
          <select
            {...attributes}
            value={chosen.value}
            onChange={(event) => (chosen.value = event.currentTarget.selectedIndex)}
          >
            {webhookSnippets.map((each, place) => (
              <option key={each.name} value={place}>
                {each.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Copyable text={linesFor(code, subscription)} label={name} />
    </details>
  );
}
