import { Braces, ListChecks, Plus, Rows3, Sparkles, Trash2 } from 'lucide';
import { useState } from 'preact/hooks';
import { api, AssentError, type Problem, type Schemas } from '../../app/api.js';
import { readAll, useAction } from '../../app/live.js';
import { go, href } from '../../app/route.js';
import { announce, formatNumber, readableJson, t } from '../../app/text.js';
import { differences, useVersion, type Version } from '../../app/version.js';
import { commonTexts } from '../../texts/common.js';
import { originsTexts as texts } from '../../texts/origins.js';
import { ChipsField } from '../../ui/chips.js';
import {
  ChoiceField,
  Differences,
  Form,
  FormButtons,
  ProblemView,
  ReferenceField,
  referenceHeader,
  TextField,
} from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';
import { JsonEditor } from '../subscriptions/json-editor.js';
import { readOrigin } from './origin-policy.js';
import { fitsRows, lists, type Rule, rulesFrom } from './rule-rows.js';

type Origin = Schemas['Origin'];

/** Without rules, everyone may subscribe. What is typed as JSON goes before the rows. */
interface Draft {
  rules: Rule[] | undefined;
  json?: string | undefined;
}

const place = '/subscriptionrules';
const maxSubscriptions = 10_000;

/** Who may subscribe to what. Whom the rules would refuse is shown beside them before they are saved. */
export function OriginRules({
  found,
  onChanged,
}: {
  found: Version<Origin>;
  onChanged: (origin: Version<Origin>) => void;
}) {
  const present = ({ subscriptionrules: rules }: Origin): Draft =>
    rules === undefined || fitsRows(rules) ? { rules } : { rules, json: readableJson(rules) };
  const textOf = (of: Draft) => of.json ?? JSON.stringify(of.rules) ?? '';
  const [draft, setDraft] = useState(() => present(found.value));
  const [others, setOthers] = useState<ReturnType<typeof differences>>([]);
  const [reference, setReference] = useState('');
  const [checked, setChecked] = useState<{ text: string; result: Schemas['RuleCheckResult'] }>();
  const [isCut, setIsCut] = useState(false);
  const action = useAction();
  const { name } = found.value;
  const path = { name };
  const version = useVersion(
    found,
    () => readOrigin(name),
    (before, now) => {
      setOthers(differences(before, now));
      if (textOf(draft) === textOf(present(before))) setDraft(present(now));
    },
    (before, now) =>
      [before, now].some((each) => textOf(draft) === textOf(present(each))) ||
      textOf(present(before)) === textOf(present(now)),
  );
  const typed = (): Rule[] | undefined => (draft.json === undefined ? draft.rules : (parse(draft.json) as Rule[]));

  const check = async () => {
    // Without rules nobody is refused: no rules would check those that are in force.
    const body = { subscriptionrules: typed() ?? [{ name: 'all', types: ['*'] }] };
    const { data } = await api.POST('/origins/{name}/subscriptionrules/check', { params: { path }, body });
    setChecked({ text: textOf(draft), result: data });
  };
  const save = () =>
    version.change(async (tag) => {
      const params = { path, header: { 'If-Match': tag, ...referenceHeader(reference) } };
      const body = { subscriptionrules: typed() ?? null };
      const { data, etag = '' } = await api.PATCH('/origins/{name}', { params, body });
      onChanged({ value: data, tag: etag });
      setDraft(present(data));
      announce(t(texts.rulesSaved));
    });
  const fill = async () => {
    const read = await readAll(maxSubscriptions, api.pages('/subscriptions', { params: { query: { origin: name } } }));
    setIsCut(read.isCut);
    setDraft({ rules: rulesFrom(read.rows.filter(({ status }) => status !== 'expired' && status !== 'retired')) });
  };
  const toRows = async () => {
    const rules = parse(draft.json ?? '');
    if (!fitsRows(rules)) throw faultAt(t(texts.notRows));
    setDraft({ rules });
  };
  const { rules, json } = draft;
  const isLimited = rules !== undefined || json !== undefined;
  const shown = (action.problem?.faults ?? []).map(({ pointer }) => pointer);
  return (
    <Form action={action} onSubmit={save}>
      <div class="split">
        <div>
          <ChoiceField
            label={t(texts.whoMay)}
            value={isLimited ? 'rules' : 'everyone'}
            options={['everyone', 'rules'] as const}
            textOf={(each) => t(texts.who[each])}
            onChange={(each) => setDraft({ rules: each === 'rules' ? [] : undefined })}
          />
          {isLimited && (
            <>
              <p class="soft">{t(texts.rulesText)}</p>
              <div class="actions">
                <button type="button" disabled={action.isBusy} onClick={() => void action.run(fill)}>
                  <Icon of={Sparkles} />
                  {t(texts.fromToday)}
                </button>
                <button
                  type="button"
                  class="quiet"
                  onClick={() => {
                    if (json !== undefined) return void action.run(toRows);
                    action.clear();
                    return setDraft({ rules, json: readableJson(rules) });
                  }}
                >
                  <Icon of={json === undefined ? Braces : Rows3} />
                  {t(json === undefined ? texts.asJson : texts.asRows)}
                </button>
              </div>
              {isCut && <p class="note open">{t(texts.incomplete)}</p>}
              {json === undefined ? (
                <RuleRows rules={rules ?? []} problem={action.problem} onChange={(now) => setDraft({ rules: now })} />
              ) : (
                <JsonEditor
                  label={t(texts.rulesJson)}
                  hint={t(texts.rulesHint)}
                  rows={14}
                  value={json}
                  onInput={(text) => setDraft({ rules, json: text })}
                  problem={action.problem}
                  pointer={place}
                />
              )}
            </>
          )}
          <ReferenceField problem={action.problem} value={reference} onInput={setReference} />
        </div>
        <section class="card facts-card" aria-labelledby="check">
          <h2 id="check">{t(texts.check)}</h2>
          <p class="soft">{t(texts.checkHint)}</p>
          <button type="button" disabled={action.isBusy} onClick={() => void action.run(check)}>
            <Icon of={ListChecks} />
            {t(texts.checkNow)}
          </button>
          {checked !== undefined && <CheckResult result={checked.result} isOld={checked.text !== textOf(draft)} />}
        </section>
      </div>
      <ProblemView
        problem={action.problem}
        shownAt={shown.filter((each) => (json === undefined ? atField : atPlace).test(each))}
      />
      <Differences of={others} />
      <FormButtons
        action={action}
        submit={version.isOvertaken ? t(commonTexts.problems.usePresent(t(texts.saveRules))) : t(texts.saveRules)}
        cancel={() => go(href('origins', name))}
      />
    </Form>
  );
}

const atPlace = new RegExp(`^${place}`);
const atField = new RegExp(`^${place}/\\d+/(name|${lists.join('|')})`);

function faultAt(detail: string): AssentError {
  const fault = { pointer: place, rule: 'body_malformed', detail };
  const problem = { title: t(texts.rulesJson), detail: '', status: 400, code: 'invalid_request', requestid: '' };
  return new AssentError({ type: 'about:blank', ...problem, faults: [fault] });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw faultAt(t(texts.notJson((error as Error).message)));
  }
}

function RuleRows({
  rules,
  problem,
  onChange,
}: {
  rules: readonly Rule[];
  problem: Problem | undefined;
  onChange: (rules: Rule[]) => void;
}) {
  const set = (at: number, rule: Rule) => onChange(rules.map((each, index) => (index === at ? rule : each)));
  const setList = (at: number, member: (typeof lists)[number], values: readonly string[]) => {
    const { [member]: _, ...rest } = rules[at] ?? { name: '' };
    set(at, values.length === 0 ? rest : { ...rest, [member]: [...values] });
  };
  const add = () => {
    const names = new Set(rules.map(({ name }) => name));
    let number = rules.length + 1;
    while (names.has(t(texts.newRule(String(number))))) number += 1;
    onChange([...rules, { name: t(texts.newRule(String(number))) }]);
  };
  return (
    <>
      {rules.length === 0 && <p class="note open">{t(texts.noOne)}</p>}
      <ol class="rules">
        {rules.map((rule, at) => (
          <li key={at} class="card">
            <TextField
              label={t(texts.name)}
              problem={problem}
              pointer={`${place}/${at}/name`}
              maxLength={100}
              value={rule.name}
              onInput={(name) => set(at, { ...rule, name })}
            />
            <button
              type="button"
              class="quiet"
              aria-label={t(commonTexts.remove(rule.name))}
              title={t(commonTexts.remove(rule.name))}
              onClick={() => onChange(rules.filter((_, index) => index !== at))}
            >
              <Icon of={Trash2} />
            </button>
            {lists.map((member) => (
              <ChipsField
                key={member}
                label={t(texts.ruleNames[member])}
                problem={problem}
                pointer={`${place}/${at}/${member}`}
                values={rule[member] ?? []}
                onChange={(values) => setList(at, member, values)}
                placeholder={t(texts.all)}
              />
            ))}
            {rule.claims !== undefined && (
              <p class="soft">
                {t(texts.ruleNames.claims)}: <bdi>{JSON.stringify(rule.claims)}</bdi>
              </p>
            )}
          </li>
        ))}
      </ol>
      <button type="button" onClick={add}>
        <Icon of={Plus} />
        {t(texts.addRule)}
      </button>
    </>
  );
}

/** It stays while the rules are changed, and says that it is about others. */
function CheckResult({ result, isOld }: { result: Schemas['RuleCheckResult']; isOld: boolean }) {
  const { examined, complete, refused, undecided, results } = result;
  return (
    <>
      <p role="status">
        {t(texts.checked(formatNumber(examined), formatNumber(refused), formatNumber(undecided)))}{' '}
        {!complete && t(texts.incomplete)}
      </p>
      {isOld && <p class="soft">{t(texts.oldResult)}</p>}
      {refused + undecided > results.length && <p>{t(texts.firstRefused)}</p>}
      <ul class="plain results">
        {results.map(({ id, subscriber, result: each, faults }) => (
          <li key={id}>
            <a href={href('subscriptions', id)}>
              <bdi>{subscriber}</bdi>
            </a>{' '}
            <span class={`badge ${each === 'refused' ? 'bad' : 'open'}`}>
              {t(texts.results[each === 'refused' ? each : 'undecided'])}
            </span>
            {faults.map(({ pointer, detail }) => (
              <p key={pointer}>
                <code>{pointer}</code> <bdi>{detail}</bdi>
              </p>
            ))}
          </li>
        ))}
      </ul>
    </>
  );
}
