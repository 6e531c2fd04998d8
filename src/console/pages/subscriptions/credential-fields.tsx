import type { Problem, Schemas } from '../../app/api.js';
import { t } from '../../app/text.js';
import { registerTexts as texts } from '../../texts/register.js';
import { Field } from '../../ui/field.js';

type Member = keyof typeof texts.credentialMembers;

const token = ['accesstoken', 'accesstokenexpiresutc', 'accesstokentype'] as const;
const membersOf: Record<keyof typeof texts.credentialtypes, readonly Member[]> = {
  '': [],
  PLAIN: ['identifier', 'secret'],
  ACCESSTOKEN: token,
  REFRESHTOKEN: [...token, 'refreshtoken', 'refreshtokenendpoint'],
};
const secrets: readonly Member[] = ['secret', 'accesstoken', 'refreshtoken'];

export interface CredentialDraft extends Partial<Record<Member, string>> {
  credentialtype: keyof typeof membersOf;
}

/** Undefined if there is none. Empty members are left out; the registry says which of them it needs. */
export function readCredential(draft: CredentialDraft): Schemas['SinkCredential'] | undefined {
  if (draft.credentialtype === '') return undefined;
  const given = membersOf[draft.credentialtype].filter((member) => draft[member]);
  const members = Object.fromEntries(given.map((member) => [member, draft[member]]));
  return { credentialtype: draft.credentialtype, ...members };
}

export function CredentialFields({
  draft,
  onInput,
  problem,
}: {
  draft: CredentialDraft;
  onInput: (draft: CredentialDraft) => void;
  problem: Problem | undefined;
}) {
  return (
    <fieldset>
      <legend>{t(texts.credential)}</legend>
      <p>{t(texts.credentialHint)}</p>
      <Field label={t(texts.credentialtype)}>
        {(attributes) => (
          <select
            {...attributes}
            value={draft.credentialtype}
            onChange={(event) =>
              onInput({ ...draft, credentialtype: event.currentTarget.value as CredentialDraft['credentialtype'] })
            }
          >
            {Object.entries(texts.credentialtypes).map(([type, text]) => (
              <option key={type} value={type}>
                {t(text)}
              </option>
            ))}
          </select>
        )}
      </Field>
      {membersOf[draft.credentialtype].map((member) => (
        <Field
          key={member}
          label={t(texts.credentialMembers[member])}
          problem={problem}
          pointer={`/sinkcredential/${member}`}
        >
          {(attributes) => (
            <input
              {...attributes}
              class={secrets.includes(member) ? 'secret' : ''}
              autocomplete="off"
              spellcheck={false}
              value={draft[member] ?? ''}
              onInput={(event) => onInput({ ...draft, [member]: event.currentTarget.value })}
            />
          )}
        </Field>
      ))}
    </fieldset>
  );
}
