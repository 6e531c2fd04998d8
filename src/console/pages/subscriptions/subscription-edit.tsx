import type { TargetedEvent } from 'preact';
import { useState } from 'preact/hooks';
import { t, announce } from '../../app/text.js';
import { registerTexts, subscriptionPageTexts } from '../../texts/subscriptions.js';
import { type ControlAttributes, ProblemView, Field, SelectField, FormButtons, faultsAt } from '../../ui/form.js';
import { type FilterCheck, FilterTester, JsonEditor, noProblem, type Tested, useFilterCheck } from './json-editor.js';
import {
  draftChanges,
  type SubscriptionDraft,
  draftOf,
  emptyDraft,
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
import type { SubscriptionDetails } from './use-subscription.js';

/** The places in a request that these fields show faults of. */
export const isShownAtField = (pointer: string) =>
  /^\/(sink|origin|source|types|subject|filters|requestedrate|callback|expiresat|protocolsettings|config)(\/|$)/.test(
    pointer,
  );

/** The members of a subscription, to register or to edit one, with a live test of what they match. */
export function SubscriptionFields({
  draft,
  onInput,
  faults,
  check,
  origins,
  storedNow = {},
}: {
  draft: SubscriptionDraft;
  onInput: (member: DraftMember, text: string) => void;
  faults: readonly FieldFault[];
  check: FilterCheck;
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
          <summary>{t(registerTexts.test)}</summary>
          <FilterTester check={check} areMembersValid={!faults.some(({ pointer }) => pointer.startsWith('/filters'))} />
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
export function useSubscriptionForm(first: SubscriptionDraft = emptyDraft, refused?: Problem) {
  const [draft, setDraft] = useState(first);
  const { members, faults: own } = readDraft(draft);
  const { source, types, subject, filters } = members as Tested;
  const wanted: Tested = {
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
    /** Faults that the page sees itself; with them there is nothing to send. */
    isReady: own.length === 0 && draft.sink !== '',
    faults,
    check,
    origins,
    setDraft,
    onInput: (member: DraftMember, text: string) => setDraft((before) => ({ ...before, [member]: text })),
    hasFault: (pointer: string) => faultsAt(refused, pointer).length > 0,
  };
}

/**
 * The form that changes a subscription. It keeps the version that it was opened with. If another user changed it
 * meanwhile, the registry refuses; then the form can read what is stored and put the user's changes on top.
 */
export function EditSubscription({ read, onDone }: { read: SubscriptionDetails; onDone: () => void }) {
  const { id } = read.subscription;
  const [base, setBase] = useState(() => ({ draft: draftOf(read.subscription), etag: read.etag }));
  const [storedNow, setStoredNow] = useState<Partial<SubscriptionDraft>>();
  const action = useAction();
  const form = useSubscriptionForm(base.draft, action.problem);
  const { draft, isReady } = form;
  const isChanged = draftChanges(base.draft, draft).length > 0;

  const save = async () => {
    const init = {
      params: { path: { id }, header: { 'If-Match': base.etag, Prefer: 'respond-async' } },
      body: patchOf(base.draft, draft),
    };
    await api.PATCH('/subscriptions/{id}', init);
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!(await action.run(save))) return;
    announce(t(subscriptionPageTexts.saved));
    onDone();
  };
  const merge = async () => {
    const { data, etag = '' } = await api.GET('/subscriptions/{id}', { params: { path: { id } } });
    const stored = draftOf(data);
    const mine = draftChanges(base.draft, draft);
    const both = mine.filter((member) => stored[member] !== base.draft[member] && stored[member] !== draft[member]);
    form.setDraft({ ...stored, ...Object.fromEntries(mine.map((member) => [member, draft[member]])) });
    setStoredNow(Object.fromEntries(both.map((member) => [member, stored[member]])));
    setBase({ draft: stored, etag });
  };
  const { problem } = action;
  const shownAt = (problem?.faults ?? []).map(({ pointer }) => pointer).filter(isShownAtField);
  return (
    <section aria-labelledby="edit">
      <h2 id="edit">{t(subscriptionPageTexts.edit)}</h2>
      <form onSubmit={(event) => void submit(event)} noValidate>
        {storedNow !== undefined && <p role="alert">{t(subscriptionPageTexts.reloaded)}</p>}
        <SubscriptionFields {...form} storedNow={storedNow ?? {}} />
        <ProblemView problem={problem} shownAt={shownAt} />
        {problem?.code === 'precondition_failed' && (
          <button type="button" onClick={() => void action.run(merge)}>
            {t(subscriptionPageTexts.reload)}
          </button>
        )}
        {!isChanged && <p class="soft">{t(subscriptionPageTexts.unchanged)}</p>}
        <FormButtons action={action} submit={t(commonTexts.save)} cancel={onDone} isReady={isReady && isChanged} />
      </form>
    </section>
  );
}
