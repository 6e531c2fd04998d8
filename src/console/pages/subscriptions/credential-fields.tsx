import { Eye, EyeOff } from 'lucide';
import { useState } from 'preact/hooks';
import type { Problem, Schemas } from '../../app/api.js';
import { t } from '../../app/text.js';
import { registerTexts } from '../../texts/register.js';
import { Field, missing, SelectField, TextField } from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';

type Member = keyof typeof registerTexts.credentialMembers;

const token = ['accesstoken', 'accesstokenexpiresutc', 'accesstokentype'] as const;
const membersOf: Record<keyof typeof registerTexts.credentialtypes, readonly Member[]> = {
  '': [],
  PLAIN: ['identifier', 'secret'],
  ACCESSTOKEN: token,
  REFRESHTOKEN: [...token, 'refreshtoken', 'refreshtokenendpoint'],
};
const credentialtypes = Object.keys(membersOf) as Array<keyof typeof membersOf>;
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

/** What the type of a new credential needs. */
export function missingIn(draft: CredentialDraft) {
  const needed = membersOf[draft.credentialtype].filter((member) => member !== 'accesstokentype');
  const label = (member: Member) => t(registerTexts.credentialMembers[member]);
  return missing(
    Object.fromEntries(
      needed.map((member) => [`/sinkcredential/${member}`, [label(member), draft[member] ?? '']] as const),
    ),
  );
}

export function CredentialFields({
  draft,
  onInput,
  problem,
  isOptional = false,
}: {
  draft: CredentialDraft;
  isOptional?: boolean;
  onInput: (draft: CredentialDraft) => void;
  problem: Problem | undefined;
}) {
  return (
    <>
      <SelectField
        label={t(registerTexts.credential)}
        problem={problem}
        pointer="/sinkcredential/credentialtype"
        value={draft.credentialtype}
        options={credentialtypes.filter((type) => isOptional || type !== '')}
        textOf={(type) => t(registerTexts.credentialtypes[type])}
        onChange={(credentialtype) => onInput({ ...draft, credentialtype })}
      />
      {membersOf[draft.credentialtype].map((member) => {
        const field = {
          label: t(registerTexts.credentialMembers[member]),
          problem,
          pointer: `/sinkcredential/${member}`,
          value: draft[member] ?? '',
          onInput: (value: string) => onInput({ ...draft, [member]: value }),
        };
        return secrets.includes(member) ? (
          <SecretField key={member} {...field} canGenerate={member !== 'refreshtoken'} />
        ) : (
          <TextField key={member} {...field} autocomplete="off" spellcheck={false} />
        );
      })}
    </>
  );
}

/** 256 random bits that fit in a header. */
function generateSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, (mark) => ({ '+': '-', '/': '_' })[mark] ?? '');
}

/** Hidden until the user wants to see it, or has one made: somebody has to give it to the webhook. */
export function SecretField({
  value,
  onInput,
  canGenerate = false,
  ...field
}: {
  label: string;
  hint?: string;
  problem: Problem | undefined;
  pointer: string;
  value: string;
  onInput: (value: string) => void;
  canGenerate?: boolean;
}) {
  const [isShown, setIsShown] = useState(false);
  const generate = () => {
    onInput(generateSecret());
    setIsShown(true);
  };
  return (
    <Field {...field}>
      {(attributes) => (
        <span class="joined">
          <input
            {...attributes}
            class={isShown ? '' : 'secret'}
            autocomplete="off"
            spellcheck={false}
            value={value}
            onInput={({ currentTarget }) => onInput(currentTarget.value)}
          />
          <button
            type="button"
            class="quiet"
            aria-pressed={isShown}
            aria-label={t(registerTexts.show(field.label))}
            title={t(registerTexts.show(field.label))}
            onClick={() => setIsShown(!isShown)}
          >
            <Icon of={isShown ? EyeOff : Eye} />
          </button>
          {canGenerate && (
            <button type="button" onClick={generate}>
              {t(registerTexts.generate)}
            </button>
          )}
        </span>
      )}
    </Field>
  );
}
