import type { TargetedEvent } from 'preact';
import { useId } from 'preact/hooks';
import { t } from '../../app/text.js';
import { registerTexts as texts } from '../../texts/register.js';
import { subscriptionTexts } from '../../texts/subscription.js';
import { Field, type ControlAttributes } from '../../ui/field.js';
import { FilterTester, noProblem, type FilterCheck } from './filter-test.js';
import { JsonEditor } from './json-editor.js';
import type { Draft, Fault, Member } from './subscription-draft.js';

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
  draft: Draft;
  onInput: (member: Member, text: string) => void;
  faults: readonly Fault[];
  check: FilterCheck;
  /** To choose from, if the user may see them. */
  origins: readonly string[];
  /** What the registry has now, for members that both the user and another one changed. */
  storedNow?: Partial<Draft>;
}) {
  const list = useId();
  const problem = { ...noProblem, faults: [...faults] };
  const hintOf = (member: Member, hint: string) =>
    storedNow[member] === undefined ? hint : `${hint} ${t(subscriptionTexts.storedNow)} ${storedNow[member] || '–'}`;
  const control = (member: Member, attributes: ControlAttributes) => ({
    ...attributes,
    autocomplete: 'off',
    spellcheck: false,
    value: draft[member],
    onInput: (event: TargetedEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      onInput(member, event.currentTarget.value),
  });
  const field = (member: Member, label: string, hint: string, more: object = {}) => (
    <Field label={label} hint={hintOf(member, hint)} problem={problem} pointer={`/${member}`}>
      {(attributes) => <input {...control(member, attributes)} {...more} />}
    </Field>
  );
  const json = (member: Member, label: string, hint: string) => (
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
        <legend>{t(texts.where)}</legend>
        {field('sink', t(texts.sink), t(texts.sinkHint), { inputMode: 'url', required: true })}
        {field('origin', t(texts.origin), t(texts.originHint), origins.length > 0 ? { list } : {})}
        <datalist id={list}>
          {origins.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        {field('requestedrate', t(texts.rate), t(texts.rateHint), { inputMode: 'numeric' })}
        {field('expiresat', t(texts.ends), t(texts.endsHint), { type: 'datetime-local', step: 1 })}
      </fieldset>
      <fieldset>
        <legend>{t(texts.which)}</legend>
        <Field label={t(texts.types)} hint={hintOf('types', t(texts.typesHint))} problem={problem} pointer="/types">
          {(attributes) => <textarea {...control('types', attributes)} rows={3} />}
        </Field>
        {field('source', t(texts.source), t(texts.sourceHint))}
        {field('subject', t(texts.subject), t(texts.subjectHint))}
        {json('filters', t(texts.filters), t(texts.filtersHint))}
        <details open={draft.filters !== ''}>
          <summary>{t(texts.test)}</summary>
          <FilterTester check={check} areMembersValid={!faults.some(({ pointer }) => pointer.startsWith('/filters'))} />
        </details>
      </fieldset>
      <details>
        <summary>{t(texts.more)}</summary>
        <Field
          label={t(texts.callback)}
          hint={hintOf('callback', t(texts.callbackHint))}
          problem={problem}
          pointer="/callback"
        >
          {(attributes) => (
            <select
              {...attributes}
              value={draft.callback}
              onChange={(event) => onInput('callback', event.currentTarget.value)}
            >
              <option value="offer">{t(texts.callbacks.offer)}</option>
              <option value="never">{t(texts.callbacks.never)}</option>
            </select>
          )}
        </Field>
        {json('protocolsettings', t(texts.settings), t(texts.settingsHint))}
        {json('config', t(texts.config), t(texts.configHint))}
      </details>
    </>
  );
}
