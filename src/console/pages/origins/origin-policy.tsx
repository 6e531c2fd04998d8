import { type Problem, type Schemas, api } from '../../app/api.js';
import { isAdmin } from '../../app/session.js';
import { formatNumber, language, t } from '../../app/text.js';
import type { Version } from '../../app/version.js';
import { commonTexts } from '../../texts/common.js';
import { originsTexts as texts, policyTexts } from '../../texts/origins.js';
import { Field } from '../../ui/form.js';
import { FactsCard, Time } from '../../ui/value.js';

type Origin = Schemas['Origin'];

const units: Array<[string, number]> = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

/** In the largest unit that has no fraction. */
export function formatDuration(seconds: number): string {
  const [unit, size] = units.find(([, each]) => seconds % each === 0) ?? ['second', 1];
  return new Intl.NumberFormat(language.value, { style: 'unit', unit, unitDisplay: 'long' }).format(seconds / size);
}

/** A policy, as a list. */
export function PolicyFacts({ origin }: { origin: Origin }) {
  const rate = (value: Schemas['Rate']) =>
    value === '*' ? t(commonTexts.noLimit) : t(texts.perMinute(formatNumber(value)));
  const none = t(texts.nothing);
  const { requestedrate, burst, unsupportedrate, subscriptionrules } = origin;
  const values: Record<PolicyMember, string> = {
    description: origin.description ?? none,
    isdefault: t(origin.isdefault ? texts.yes : texts.no),
    requestedrate: requestedrate === undefined ? none : rate(requestedrate),
    defaultrate: rate(origin.defaultrate),
    burst: burst === undefined ? t(texts.fourSeconds) : formatNumber(burst),
    judgement: origin.judgement,
    callback: origin.callback,
    signatures: origin.signatures,
    unsupportedrate: unsupportedrate === undefined ? none : rate(unsupportedrate),
    grantseconds: formatDuration(origin.grantseconds),
    profile: origin.profile,
    goneafter: formatNumber(origin.goneafter),
  };
  const rules = subscriptionrules === undefined ? t(texts.everyone) : formatNumber(subscriptionrules.length);
  return (
    <FactsCard
      title={t(texts.policy)}
      facts={[
        ...members.map((member) => [t(policyTexts[member].label), <bdi>{values[member]}</bdi>] as const),
        [t(texts.rules), isAdmin.value ? rules : undefined],
        [t(texts.registered), <Time at={origin.createdat} look="exact" />],
        [t(texts.updated), <Time at={origin.updatedat} look="exact" />],
      ]}
    />
  );
}

export type PolicyMember = keyof typeof policyTexts;
/** What the form has, as it was typed. */
type Typed = Record<PolicyMember, string>;

export const members = Object.keys(policyTexts) as PolicyMember[];
export const policyPointers = members.map((member) => `/${member}`);

const choices: Partial<Record<PolicyMember, readonly string[]>> = {
  judgement: ['strict', 'lenient'],
  callback: ['offer', 'never'],
  signatures: ['dictionary', 'string', 'off'],
  profile: ['cloudevents', 'nl-gov', 'intg-std-015', 'belgif'],
};

export function typedOf(origin: Partial<Origin>): Typed {
  return Object.fromEntries(members.map((member) => [member, String(origin[member] ?? '')])) as Typed;
}

/** The members that differ, as the API writes them: `null` for an empty field. */
export function changesOf(before: Typed, after: Typed): Record<string, unknown> {
  const changed = members.filter((member) => before[member].trim() !== after[member].trim());
  return Object.fromEntries(changed.map((member) => [member, valueOf(member, after[member].trim())]));
}

/** What is no number goes as it is: the registry says what is wrong with it. */
function valueOf(member: PolicyMember, text: string): unknown {
  if (text === '') return null;
  if (member === 'description') return text;
  if (text === 'true' || text === 'false') return text === 'true';
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

export function PolicyFields({
  typed,
  onChange,
  problem,
  of = members,
}: {
  of?: readonly PolicyMember[];
  typed: Typed;
  onChange: (typed: Typed) => void;
  problem: Problem | undefined;
}) {
  const set = (member: PolicyMember, value: string) => onChange({ ...typed, [member]: value });
  return (
    <div class="pairs">
      {of.map((member) => {
        const { label, hint } = policyTexts[member];
        return (
          <Field key={member} label={t(label)} hint={t(hint)} problem={problem} pointer={`/${member}`}>
            {(attributes) => {
              if (member === 'isdefault') {
                return (
                  <input
                    {...attributes}
                    type="checkbox"
                    checked={typed[member] === 'true'}
                    onChange={({ currentTarget }) => set(member, String(currentTarget.checked))}
                  />
                );
              }
              const options = choices[member];
              if (options === undefined) {
                return (
                  <input
                    {...attributes}
                    inputMode={['defaultrate', 'description'].includes(member) ? 'text' : 'numeric'}
                    {...(member === 'description' && { maxLength: 500 })}
                    value={typed[member]}
                    onInput={({ currentTarget }) => set(member, currentTarget.value)}
                  />
                );
              }
              return (
                <select
                  {...attributes}
                  value={typed[member]}
                  onChange={({ currentTarget }) => set(member, currentTarget.value)}
                >
                  {options.map((option) => (
                    <option key={option}>{option}</option>
                  ))}
                </select>
              );
            }}
          </Field>
        );
      })}
    </div>
  );
}

export async function readOrigin(name: string, signal?: AbortSignal): Promise<Version<Origin>> {
  const { data, etag = '' } = await api.GET('/origins/{name}', {
    params: { path: { name } },
    ...(signal && { signal }),
  });
  return { value: data, tag: etag };
}
