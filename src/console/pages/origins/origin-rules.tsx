import { useState } from 'preact/hooks';
import { announce, formatNumber, readableJson, t } from '../../app/text.js';
import { api, AssentError, type Schemas } from '../../app/api.js';
import { useAction } from '../../app/live.js';
import { href } from '../../app/route.js';
import { originsTexts as texts } from '../../texts/origins.js';
import { differences, useVersion, type Version } from '../../app/version.js';
import { commonTexts } from '../../texts/common.js';
import { Differences, Field, Form, FormButtons, ProblemView, ReferenceField, referenceHeader } from '../../ui/form.js';
import { Table } from '../../ui/table.js';
import { readOrigin } from './origin-policy.js';

type Origin = Schemas['Origin'];
type Rules = Schemas['SubscriptionRule'][];

const place = '/subscriptionrules';

/** Rules as JSON, with faults at their place. Whom they would refuse is shown before they are saved. */
function EditRules({
  found,
  onChanged,
  onClose,
}: {
  found: Version<Origin>;
  onChanged: (origin: Version<Origin>) => void;
  onClose: () => void;
}) {
  const present = ({ subscriptionrules: rules }: Origin) => (rules === undefined ? '' : readableJson(rules));
  const [text, setText] = useState(() => present(found.value));
  const [others, setOthers] = useState<ReturnType<typeof differences>>([]);
  const [reference, setReference] = useState('');
  const [checked, setChecked] = useState<{ text: string; result: Schemas['RuleCheckResult'] } | undefined>(undefined);
  const action = useAction();
  const { name } = found.value;
  const version = useVersion(
    found,
    () => readOrigin(name),
    (before, now) => {
      setOthers(differences(before, now));
      if (text === present(before)) setText(present(now));
    },
    (before, now) => text === present(before) || present(before) === present(now),
  );
  const path = { name };

  const check = async () => {
    // Without rules nobody is refused: an empty text must not check those that are in force.
    const subscriptionrules = text.trim() === '' ? [{ name: 'all', types: ['*'] }] : readRules(text);
    const result = await api.POST('/origins/{name}/subscriptionrules/check', {
      params: { path },
      body: { subscriptionrules },
    });
    setChecked({ text, result: result.data });
  };
  const save = () =>
    version.change(async (tag) => {
      const subscriptionrules = text.trim() === '' ? null : readRules(text);
      const params = { path, header: { 'If-Match': tag, ...referenceHeader(reference) } };
      const { data, etag = '' } = await api.PATCH('/origins/{name}', { params, body: { subscriptionrules } });
      onChanged({ value: data, tag: etag });
      announce(t(texts.rulesSaved));
      onClose();
    });

  return (
    <Form action={action} onSubmit={save}>
      <Field label={t(texts.rulesJson)} hint={t(texts.rulesHint)} problem={action.problem} pointer={place}>
        {(attributes) => (
          <textarea
            {...attributes}
            rows={14}
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        )}
      </Field>
      {checked?.text === text && <CheckResult result={checked.result} />}
      <ReferenceField value={reference} onInput={setReference} />
      <ProblemView
        problem={action.problem}
        shownAt={(action.problem?.faults ?? []).map(({ pointer }) => pointer).filter((each) => each.startsWith(place))}
      />
      <Differences of={others} />
      <FormButtons
        action={action}
        submit={version.isOvertaken ? t(commonTexts.problems.usePresent(t(texts.saveRules))) : t(texts.saveRules)}
        cancel={onClose}
      >
        <button type="button" disabled={action.isBusy} onClick={() => void action.run(check)}>
          {t(texts.check)}
        </button>
      </FormButtons>
    </Form>
  );
}

function readRules(text: string): Rules {
  try {
    return JSON.parse(text) as Rules;
  } catch (error) {
    const detail = t(texts.notJson).replace('{why}', () => (error as Error).message);
    const fault = { pointer: place, rule: 'body_malformed', detail };
    const problem = { title: t(texts.rulesJson), detail: '', status: 400, code: 'invalid_request', requestid: '' };
    throw new AssentError({ type: 'about:blank', ...problem, faults: [fault] });
  }
}

function CheckResult({ result }: { result: Schemas['RuleCheckResult'] }) {
  const { examined, complete, refused, undecided, results } = result;
  const numbers = { examined, refused, undecided };
  return (
    <div class="note">
      <p role="status">
        {t(texts.checked).replace(/\{(\w+)\}/g, (_, key: keyof typeof numbers) => formatNumber(numbers[key]))}{' '}
        {!complete && t(texts.incomplete)}
      </p>
      {refused + undecided > results.length && <p>{t(texts.firstRefused)}</p>}
      {results.length > 0 && (
        <Table
          caption={t(texts.check)}
          rows={results}
          keyOf={({ id }) => id}
          columns={[
            {
              key: 'id',
              title: t(texts.subscription),
              cell: ({ id }) => <a href={href('subscriptions', id)}>{id}</a>,
            },
            { key: 'who', title: t(texts.subscriber), cell: ({ subscriber }) => <bdi>{subscriber}</bdi> },
            { key: 'result', title: t(texts.result), cell: ({ result: each }) => t(texts.results[each]) },
            {
              key: 'why',
              title: t(texts.why),
              cell: ({ faults }) =>
                faults.map(({ pointer, detail }) => (
                  <p key={pointer}>
                    <code>{pointer}</code> <bdi>{detail}</bdi>
                  </p>
                )),
            },
          ]}
        />
      )}
    </div>
  );
}

const limited = ['subscribers', 'claims', 'types', 'sources', 'subjects'] as const;

/** Who may subscribe to what, and the editor of it. */
export function OriginRules({
  found,
  onChanged,
}: {
  found: Version<Origin>;
  onChanged: (origin: Version<Origin>) => void;
}) {
  const [isEdited, setEdited] = useState(false);
  const rules = found.value.subscriptionrules;
  return (
    <section aria-labelledby="rules">
      <h2 id="rules">{t(texts.rules)}</h2>
      <p>{t(texts.rulesText)}</p>
      {isEdited ? (
        <EditRules found={found} onChanged={onChanged} onClose={() => setEdited(false)} />
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
