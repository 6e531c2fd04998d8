import { useState } from 'preact/hooks';
import type { Schemas } from '../../app/api.js';
import { t } from '../../app/text.js';
import { originsTexts as texts } from '../../texts/origins.js';
import type { Versioned } from './read-origin.js';
import { EditRules } from './rules-edit.js';

const limited = ['subscribers', 'claims', 'types', 'sources', 'subjects'] as const;

/** Who may subscribe to what, and the editor of it. */
export function OriginRules({ found, onSaved }: { found: Versioned; onSaved: () => void }) {
  const [isEdited, setEdited] = useState(false);
  const rules = found.origin.subscriptionrules;
  return (
    <section aria-labelledby="rules">
      <h2 id="rules">{t(texts.rules)}</h2>
      <p>{t(texts.rulesText)}</p>
      {isEdited ? (
        <EditRules
          opened={found}
          onDone={() => {
            setEdited(false);
            onSaved();
          }}
        />
      ) : (
        <>
          {rules?.length === 0 && <p class="note">{t(texts.noOne)}</p>}
          {rules?.map((rule) => (
            <Rule key={rule.name} rule={rule} />
          ))}
          <button type="button" onClick={() => setEdited(true)}>
            {t(texts.editRules)}
          </button>
        </>
      )}
    </section>
  );
}

function Rule({ rule }: { rule: Schemas['SubscriptionRule'] }) {
  return (
    <details>
      <summary>
        <bdi>{rule.name}</bdi>
      </summary>
      <dl class="facts">
        {limited
          .filter((member) => rule[member] !== undefined)
          .map((member) => (
            <>
              <dt key={member}>{t(texts.ruleNames[member])}</dt>
              <dd>
                <bdi>{listOf(rule[member])}</bdi>
              </dd>
            </>
          ))}
      </dl>
    </details>
  );
}

function listOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  return Object.entries(value ?? {})
    .map(([name, accepted]) => `${name}: ${[accepted].flat().join(' / ')}`)
    .join('; ');
}
