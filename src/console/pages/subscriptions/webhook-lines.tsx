import { signal } from '@preact/signals';
import { api } from '../../app/api.js';
import { useResource } from '../../app/live.js';
import { t } from '../../app/text.js';
import { handshakePageTexts as texts } from '../../texts/handshakes.js';
import { Copyable } from '../../ui/value.js';
import { Field } from '../../ui/form.js';
import { linesFor, rateToSuggest, webhookSnippets } from './webhook-snippets.js';

/** Kept from one subscription to the next. */
const chosen = signal(0);

/** What the owner of a webhook pastes so that it consents to this origin. */
export function WebhookLines({
  isOpen,
  origin,
  asked,
  sink,
}: {
  origin: string;
  /** The rate that the last handshake asked for, if it did. */
  asked: number | undefined;
  sink: string;
  isOpen: boolean;
}) {
  const params = { path: { name: origin } };
  const policy = useResource(
    `policy ${origin}`,
    async (signal) => (await api.GET('/origins/{name}', { params, signal })).data,
  );
  const rate = rateToSuggest(asked, policy.data?.defaultrate);
  const { name, code } = webhookSnippets[chosen.value] ?? { name: '', code: '' };
  return (
    <details open={isOpen}>
      <summary>
        <h2 class="in-line">{t(texts.lines)}</h2>
      </summary>
      <p>{t(asked === undefined ? texts.linesHintDefault : texts.linesHint)}</p>
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
      <Copyable text={linesFor(code, { origin, rate, sink })} label={name} />
    </details>
  );
}
