import type { Problem, Schemas } from '../../app/api.js';
import { t } from '../../app/text.js';
import { policyTexts } from '../../texts/origin-policy.js';
import { Field } from '../../ui/field.js';

type Origin = Schemas['Origin'];
export type Member = keyof typeof policyTexts;
/** What the form has, as it was typed. */
export type Typed = Record<Member, string>;

export const members = Object.keys(policyTexts) as Member[];
export const policyPointers = members.map((member) => `/${member}`);

const choices: Partial<Record<Member, readonly string[]>> = {
  judgement: ['strict', 'lenient'],
  callback: ['offer', 'never'],
  profile: ['cloudevents', 'nl-gov', 'intg-std-015', 'belgif'],
};

export function typedOf(origin: Partial<Origin>): Typed {
  return Object.fromEntries(members.map((member) => [member, String(origin[member] ?? '')])) as Typed;
}

/** The members that differ, as the API writes them: `null` for an empty field. */
export function changesOf(before: Typed, after: Typed): Record<string, unknown> {
  const changed = members.filter((member) => before[member].trim() !== after[member].trim());
  return Object.fromEntries(changed.map((member) => [member, valueOf(after[member].trim())]));
}

/** What is no number goes as it is: the registry says what is wrong with it. */
function valueOf(text: string): unknown {
  if (text === '') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

export function PolicyFields({
  typed,
  onChange,
  problem,
}: {
  typed: Typed;
  onChange: (typed: Typed) => void;
  problem: Problem | undefined;
}) {
  const set = (member: Member, value: string) => onChange({ ...typed, [member]: value });
  return (
    <>
      {members.map((member) => {
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
                    inputMode={member === 'defaultrate' ? 'text' : 'numeric'}
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
    </>
  );
}
