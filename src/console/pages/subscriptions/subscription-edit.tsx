import type { TargetedEvent } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { dropDraft, useDraft } from '../../app/draft.js';
import { t, announce } from '../../app/text.js';
import { registerTexts, subscriptionPageTexts } from '../../texts/subscriptions.js';
import {
  type ControlAttributes,
  ProblemView,
  Field,
  SelectField,
  FormButtons,
  faultsAt,
  Form,
  missing,
} from '../../ui/form.js';
import { type FilterCheck, FilterChecker, JsonEditor, noProblem, type Checked, useFilterCheck } from './json-editor.js';
import {
  draftChanges,
  type SubscriptionDraft,
  draftOf,
  type FieldFault,
  type DraftMember,
  patchOf,
  readDraft,
} from './subscription-draft.js';
import { api, type Problem, type Schemas } from '../../app/api.js';
import { useAction } from '../../app/live.js';
import { commonTexts } from '../../texts/common.js';
import { originsTexts } from '../../texts/origins.js';
import { defaultOf, useOrigins } from '../origins/use-origins.js';
import { type follow, readSubscription, type SubscriptionDetails } from './use-subscription.js';
import { useVersion } from '../../app/version.js';

/** The places in a request that these fields show faults of. */
export const isShownAtField = (pointer: string) =>
  /^\/(sink|origin|source|types|subject|filters|requestedrate|callback|expiresat|protocolsettings|config)(\/|$)/.test(
    pointer,
  );

/** The members of a subscription, to register or to edit one, with a live check of what they match. */
export function SubscriptionFields({
  draft,
  onInput,
  faults,
  checked,
  origins,
  storedNow = {},
}: {
  draft: SubscriptionDraft;
  onInput: (member: DraftMember, text: string) => void;
  faults: readonly FieldFault[];
  checked: FilterCheck;
  /** To choose from; undefined if they were not read, or not all of them. */
  origins: ReadonlyArray<Schemas['Origin']> | undefined;
  /** What the registry has now, for members that both the user and another one changed. */
  storedNow?: Partial<SubscriptionDraft>;
}) {
  const problem = { ...noProblem, faults: [...faults] };
  const hintOf = (member: DraftMember, hint: string) =>
    storedNow[member] === undefined
      ? hint
      : `${hint} ${t(subscriptionPageTexts.storedNow)} ${storedNow[member] || '–'}`;
  const control = (member: DraftMember, attributes: ControlAttributes) => ({
    ...attributes,
    autocomplete: 'off',
    spellcheck: false,
    value: draft[member],
    onInput: (event: TargetedEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      onInput(member, event.currentTarget.value),
  });
  const field = (member: DraftMember, label: string, hint: string, more: object = {}) => (
    <Field label={label} hint={hintOf(member, hint)} problem={problem} pointer={`/${member}`}>
      {(attributes) => <input {...control(member, attributes)} {...more} />}
    </Field>
  );
  const json = (member: DraftMember, label: string, hint: string) => (
    <JsonEditor
      label={label}
      hint={hintOf(member, hint)}
      value={draft[member]}
      onInput={(text) => onInput(member, text)}
      problem={problem}
      pointer={`/${member}`}
    />
  );
  return (
    <>
      <fieldset>
        <legend>{t(registerTexts.where)}</legend>
        {field('sink', t(registerTexts.sink), t(registerTexts.sinkHint), { inputMode: 'url', required: true })}
        {origins === undefined ? (
          field('origin', t(registerTexts.origin), t(registerTexts.originHint))
        ) : (
          <OriginField
            label={t(registerTexts.origin)}
            hint={(description) => hintOf('origin', `${t(registerTexts.originHintChoice)} ${description}`)}
            problem={problem}
            pointer="/origin"
            value={draft.origin}
            origins={origins}
            onChange={(name) => onInput('origin', name)}
          />
        )}
        {field('requestedrate', t(registerTexts.rate), t(registerTexts.rateHint), { inputMode: 'numeric' })}
        {field('expiresat', t(registerTexts.ends), t(registerTexts.endsHint), { type: 'datetime-local', step: 1 })}
      </fieldset>
      <fieldset>
        <legend>{t(registerTexts.which)}</legend>
        <Field
          label={t(registerTexts.types)}
          hint={hintOf('types', t(registerTexts.typesHint))}
          problem={problem}
          pointer="/types"
        >
          {(attributes) => <textarea {...control('types', attributes)} rows={3} />}
        </Field>
        {field('source', t(registerTexts.source), t(registerTexts.sourceHint))}
        {field('subject', t(registerTexts.subject), t(registerTexts.subjectHint))}
        {json('filters', t(registerTexts.filters), t(registerTexts.filtersHint))}
        <details open={draft.filters !== ''}>
          <summary>{t(registerTexts.check)}</summary>
          <FilterChecker
            check={checked}
            areMembersValid={!faults.some(({ pointer }) => pointer.startsWith('/filters'))}
          />
        </details>
      </fieldset>
      <details>
        <summary>{t(registerTexts.more)}</summary>
        <SelectField
          label={t(registerTexts.callback)}
          hint={hintOf('callback', t(registerTexts.callbackHint))}
          problem={problem}
          pointer="/callback"
          value={draft.callback}
          options={['offer', 'never'] as const}
          textOf={(each) => t(registerTexts.callbacks[each])}
          onChange={(value) => onInput('callback', value)}
        />
        {json('protocolsettings', t(registerTexts.settings), t(registerTexts.settingsHint))}
        {json('config', t(registerTexts.config), t(registerTexts.configHint))}
      </details>
    </>
  );
}

/** The default one, if there is one, unless the user chooses another. */
function OriginField({
  value,
  origins,
  hint,
  ...field
}: {
  label: string;
  hint: (description: string) => string;
  problem: Problem;
  pointer: string;
  value: string;
  origins: ReadonlyArray<Schemas['Origin']>;
  onChange: (name: string) => void;
}) {
  const present = value || defaultOf(origins);
  const known = origins.find(({ name }) => name === present);
  const names = origins.map(({ name }) => name);
  return (
    <SelectField
      {...field}
      hint={hint(known?.description ?? '')}
      value={present ?? ''}
      options={known === undefined && value !== '' ? [value, ...names] : names}
      textOf={(name) => (name === defaultOf(origins) ? `${name} (${t(originsTexts.default)})` : name)}
      {...(present === undefined && { none: t(registerTexts.chooseOrigin) })}
    />
  );
}

/** The state of the form: what was typed, and the faults of it that this page and the registry found so far. */
export function useSubscriptionForm(
  [draft, setDraft]: ReturnType<typeof useDraft<SubscriptionDraft>>,
  refused: Problem | undefined,
) {
  const { members, faults: own } = readDraft(draft);
  const { source, types, subject, filters } = members as Checked;
  const wanted: Checked = {
    ...(source && { source }),
    ...(types?.length && { types }),
    ...(subject && { subject }),
    ...(filters && { filters }),
  };
  const areFiltersRead = !own.some(({ pointer }) => pointer === '/filters');
  const check = useFilterCheck(areFiltersRead ? wanted : undefined, {
    ...(types?.[0] && { type: types[0] }),
    ...(source && { source }),
  });
  const { data: found } = useOrigins();
  const origins = found === undefined || found.isCut ? undefined : found.rows;
  // What the list shows as chosen.
  const origin = members.origin ?? (origins && defaultOf(origins));
  const known = new Set(own.map(({ pointer }) => pointer));
  const others = [...check.faults.filter(({ pointer }) => !pointer.startsWith('/event')), ...(refused?.faults ?? [])];
  // The sink is the one member that has to be there: an empty one is no fault before the user sends it.
  const faults = [...own, ...others.filter(({ pointer }) => !known.has(pointer) && known.add(pointer))];
  return {
    draft,
    members: { ...members, ...(origin !== undefined && { origin }) },
    /** Faults that the page sees itself, and the one member that has to be there: with them there is nothing to send. */
    check: () => [...missing({ '/sink': [t(registerTexts.sink), draft.sink] }), ...own],
    faults,
    checked: check,
    origins,
    setDraft,
    onInput: (member: DraftMember, text: string) => setDraft((before) => ({ ...before, [member]: text })),
    hasFault: (pointer: string) => faultsAt(refused, pointer).length > 0,
  };
}

interface KeptEdit {
  mine: Partial<SubscriptionDraft>;
  /** What was stored then. */
  before: Partial<SubscriptionDraft>;
}

/** The name of the draft. */
export const editOf = (id: string) => `edit ${id}`;

/**
 * The form that changes a subscription. It follows what is stored, but for members that the user changed, too: then the
 * registry refuses, and the form shows both values.
 */
export function EditSubscription({
  read,
  onChanged,
  onClose,
}: {
  read: SubscriptionDetails;
  onChanged: (answer: Parameters<typeof follow>[1]) => void;
  onClose: () => void;
}) {
  const { id } = read.subscription;
  const [before, setBefore] = useState(() => draftOf(read.subscription));
  const action = useAction();
  const [kept, keep] = useDraft<KeptEdit>(editOf(id), { mine: {}, before: {} });
  const [draft, setDraft] = useState({ ...before, ...kept.mine });
  // What was changed while the form was away.
  const [storedNow, setStoredNow] = useState<Partial<SubscriptionDraft>>(() => {
    const changed = (Object.keys(kept.before) as DraftMember[]).filter(
      (member) => kept.before[member] !== before[member],
    );
    return Object.fromEntries(changed.map((member) => [member, before[member]]));
  });
  const form = useSubscriptionForm([draft, setDraft], action.problem);
  const mine = draftChanges(before, draft);
  // An effect would not run if the user leaves the page before it is painted.
  useLayoutEffect(() => {
    const of = (from: SubscriptionDraft) => Object.fromEntries(mine.map((member) => [member, from[member]]));
    if (mine.length > 0) keep({ mine: of(draft), before: of(before) });
  }, [draft]);
  const close = () => {
    dropDraft(editOf(id));
    onClose();
  };
  const both = (now: SubscriptionDraft) =>
    mine.filter((member) => now[member] !== before[member] && now[member] !== draft[member]);

  const version = useVersion(
    { tag: read.tag, value: read.subscription },
    () => readSubscription(id),
    (_, subscription) => {
      const now = draftOf(subscription);
      form.setDraft({ ...now, ...Object.fromEntries(mine.map((member) => [member, draft[member]])) });
      setStoredNow(Object.fromEntries(both(now).map((member) => [member, now[member]])));
      setBefore(now);
    },
    (_, subscription) => both(draftOf(subscription)).length === 0,
  );
  const save = () =>
    version.change(async (tag) => {
      const header = { 'If-Match': tag, Prefer: 'respond-async' };
      onChanged(
        await api.PATCH('/subscriptions/{id}', { params: { path: { id }, header }, body: patchOf(before, draft) }),
      );
      announce(t(subscriptionPageTexts.saved));
      close();
    });
  const { problem } = action;
  const shownAt = (problem?.faults ?? []).map(({ pointer }) => pointer).filter(isShownAtField);
  return (
    <section aria-labelledby="edit">
      <h2 id="edit">{t(subscriptionPageTexts.edit)}</h2>
      <Form
        action={action}
        check={form.check}
        isKept
        onSubmit={async () => (mine.length === 0 ? announce(t(subscriptionPageTexts.unchanged)) : save())}
      >
        <SubscriptionFields {...form} storedNow={storedNow} />
        <ProblemView problem={problem} shownAt={shownAt} />
        {mine.length === 0 && <p class="soft">{t(subscriptionPageTexts.unchanged)}</p>}
        <FormButtons
          action={action}
          submit={version.isOvertaken ? t(commonTexts.problems.usePresent(t(commonTexts.save))) : t(commonTexts.save)}
          cancel={close}
        />
      </Form>
    </section>
  );
}
