import type { ComponentChildren, TargetedEvent } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Problem, type Schemas } from '../../app/api.js';
import type { useDraft } from '../../app/draft.js';
import { useResource, useSettled } from '../../app/live.js';
import { formatNumber, t } from '../../app/text.js';
import { filterTexts } from '../../texts/filters.js';
import { registerTexts as texts } from '../../texts/register.js';
import { subscriptionPageTexts } from '../../texts/subscriptions.js';
import { ChipsField } from '../../ui/chips.js';
import { type ControlAttributes, Field, missing, SelectField } from '../../ui/form.js';
import { defaultOf, useOrigins } from '../origins/use-origins.js';
import { FilterBuilder } from './filter-builder.js';
import { comparisonsIn, conditionsOf, readFilters } from './filter-conditions.js';
import { JsonEditor, noProblem } from './json-editor.js';
import { type DraftMember, readDraft, type SubscriptionDraft } from './subscription-draft.js';
import { type Checked, useTriedEvent } from './try-event.js';

/** The places in a request that these fields show faults of. */
export const isShownAtField = (pointer: string) =>
  /^\/(sink|origin|source|types|subject|filters|requestedrate|callback|expiresat|protocolsettings|config)(\/|$)/.test(
    pointer,
  );

export type SubscriptionForm = ReturnType<typeof useSubscriptionForm>;

/** The members of a subscription, to register or to edit one, as questions in their order. */
export function SubscriptionFields({
  form: { draft, onInput, faults, origins, origin, tried, isJson, setIsJson },
  storedNow = {},
  belowSink,
  credential,
}: {
  form: SubscriptionForm;
  /** What the registry has now, for members that both the user and another one changed. */
  storedNow?: Partial<SubscriptionDraft>;
  belowSink?: ComponentChildren;
  credential: ComponentChildren;
}) {
  const problem = { ...noProblem, faults: [...faults] };
  const hintOf = (member: DraftMember, hint = '') => {
    const now = storedNow[member];
    return [hint, now === undefined ? '' : `${t(subscriptionPageTexts.storedNow)} ${now || '–'}`].join(' ').trim();
  };
  const shared = (member: DraftMember, label: string, hint?: string) => {
    const shown = hintOf(member, hint);
    return { label, problem, pointer: `/${member}`, ...(shown !== '' && { hint: shown }) };
  };
  const control = (member: DraftMember, attributes: ControlAttributes) => ({
    ...attributes,
    autocomplete: 'off',
    spellcheck: false,
    value: draft[member],
    onInput: (event: TargetedEvent<HTMLInputElement>) => onInput(member, event.currentTarget.value),
  });
  const field = (member: DraftMember, label: string, hint?: string, more: object = {}, isLabelUnseen = false) => (
    <Field {...shared(member, label, hint)} isLabelUnseen={isLabelUnseen}>
      {(attributes) => <input {...control(member, attributes)} {...more} />}
    </Field>
  );
  const json = (member: DraftMember, label: string, hint: string) => (
    <JsonEditor
      {...shared(member, label, hint)}
      rows={3}
      value={draft[member]}
      onInput={(text) => onInput(member, text)}
    />
  );
  const every = { placeholder: t(subscriptionPageTexts.every) };
  const rate = origin?.requestedrate;
  return (
    <ol class="steps card">
      <li>
        <h2>{t(texts.where)}</h2>
        {field('sink', t(texts.sink), undefined, { inputMode: 'url', placeholder: 'https://', required: true }, true)}
        {belowSink}
      </li>
      <li>
        <h2>{t(texts.which)}</h2>
        <div class="pair">
          {origins === undefined ? (
            field('origin', t(texts.origin), t(texts.originHint))
          ) : (
            <OriginField
              {...shared('origin', t(texts.origin))}
              value={draft.origin}
              origins={origins}
              onChange={(name) => onInput('origin', name)}
            />
          )}
          <ChipsField
            {...shared('types', t(texts.types))}
            {...every}
            values={draft.types.split('\n').filter((type) => type !== '')}
            onChange={(types) => onInput('types', types.join('\n'))}
            suggestions={typesOf(origin)}
          />
          {field('source', t(texts.source), undefined, every)}
          {field('subject', t(texts.subject), undefined, every)}
        </div>
        <FilterBuilder
          text={draft.filters}
          onText={(text) => onInput('filters', text)}
          isJson={isJson}
          onJson={setIsJson}
          hint={hintOf('filters')}
          problem={problem}
          known={tried.attributes}
        />
      </li>
      <li>
        <h2>{t(texts.how)}</h2>
        <div class="pair">
          {field('requestedrate', t(texts.rate), undefined, {
            inputMode: 'numeric',
            placeholder: rate === undefined ? t(texts.rateOfOrigin) : formatNumber(rate),
          })}
          {credential}
        </div>
        <details>
          <summary>{t(texts.more)}</summary>
          <div class="pair">
            {field('expiresat', t(texts.ends), t(texts.endsHint), {
              type: 'datetime-local',
              step: 1,
              max: '9999-12-31T23:59:59',
            })}
            <SelectField
              {...shared('callback', t(texts.callback), t(texts.callbackHint))}
              value={draft.callback}
              options={['offer', 'never'] as const}
              textOf={(each) => t(texts.callbacks[each])}
              onChange={(value) => onInput('callback', value)}
            />
          </div>
          {json('protocolsettings', t(texts.settings), t(texts.settingsHint))}
          {json('config', t(texts.config), t(texts.configHint))}
        </details>
      </li>
    </ol>
  );
}

/** Those that the rules of an origin name. */
const typesOf = (origin: Schemas['Origin'] | undefined): string[] => [
  ...new Set(origin?.subscriptionrules?.flatMap(({ types = [] }) => types.filter((type) => !type.includes('*')))),
];

/** The default one, if there is one, unless the user chooses another. Its description stands below it. */
function OriginField({
  value,
  origins,
  ...field
}: {
  label: string;
  hint?: string;
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
    <div>
      <SelectField
        {...field}
        value={present ?? ''}
        options={known === undefined && value !== '' ? [value, ...names] : names}
        textOf={(name) => (name === defaultOf(origins) ? `${name} (${t(texts.defaultOrigin)})` : name)}
        {...(present === undefined && { none: t(texts.chooseOrigin) })}
      />
      {known?.description !== undefined && (
        <p class="below soft">
          <bdi>{known.description}</bdi>
        </p>
      )}
    </div>
  );
}

/**
 * The state of the form: what was typed, and the faults of it that this page and the registry found so far. A new one is
 * checked by a dry run as the user types; whoever edits one may be another subscriber.
 */
export function useSubscriptionForm(
  [draft, setDraft]: ReturnType<typeof useDraft<SubscriptionDraft>>,
  refused: Problem | undefined,
  isNew: boolean,
) {
  const { members: typed, faults: own } = readDraft(draft);
  const { source, types, subject, filters } = typed as Checked;
  const { data: found, isLoading } = useOrigins();
  // A list while it loads, so that nothing moves when it is there; a text if there are too many, or they cannot be read.
  const origins = found === undefined ? (isLoading ? [] : undefined) : found.isCut ? undefined : found.rows;
  // What the list shows as chosen.
  const name = typed.origin ?? (origins && defaultOf(origins));
  const members = { ...typed, ...(name !== undefined && { origin: name }) };

  const [isJson, setIsJson] = useState(false);
  const conditions = conditionsOf(readFilters(draft.filters) ?? []);
  // A row that the user has just added is no fault before it is sent.
  const unfilled = comparisonsIn(isJson ? [] : conditions).filter(
    ({ attribute, value }) => attribute === '' || value === '',
  );
  const areRead = unfilled.length === 0 && !own.some(({ pointer }) => pointer === '/filters');
  const wanted: Checked = {
    ...(source && { source }),
    ...(types?.length && { types }),
    ...(subject && { subject }),
    ...(filters && { filters }),
  };
  const tried = useTriedEvent(areRead ? wanted : undefined, conditions);

  const isReady = isNew && areRead && own.length === 0 && members.sink !== undefined;
  const body = useSettled(isReady ? { protocol: 'HTTP', ...members } : undefined);
  const dryRun = useResource(JSON.stringify(body) ?? '', async (signal) => {
    if (body === undefined) return undefined;
    const params = { query: { dryrun: true } };
    return (await api.POST('/subscriptions', { params, body: body as Schemas['SubscriptionRegistration'], signal }))
      .data;
  });

  const known = new Set(own.map(({ pointer }) => pointer));
  const others = [
    ...tried.faults.filter(({ pointer }) => !pointer.startsWith('/event')),
    ...(isReady ? (dryRun.problem?.faults ?? []) : []),
    ...(refused?.faults ?? []),
  ];
  return {
    draft,
    members,
    /** With what is missing or wrong here, there is nothing to send. */
    check: () => [
      // The sink is the one member that has to be there: an empty one is no fault before the user sends it.
      ...missing({ '/sink': [t(texts.sink), draft.sink] }),
      ...(name === undefined && origins?.length ? missing({ '/origin': [t(texts.origin), ''] }) : []),
      ...unfilled.map(({ place }) => ({ pointer: place, rule: 'required', detail: t(filterTexts.fillIn) })),
      ...own,
    ],
    faults: [...own, ...others.filter(({ pointer }) => !known.has(pointer) && known.add(pointer))],
    origins,
    origin: origins?.find((each) => each.name === name),
    dryRun: isReady ? dryRun : undefined,
    wanted: areRead ? wanted : undefined,
    conditions,
    isJson,
    setIsJson,
    tried,
    setDraft,
    onInput: (member: DraftMember, text: string) => setDraft((before) => ({ ...before, [member]: text })),
  };
}
