import type { TargetedEvent } from 'preact';
import { useId } from 'preact/hooks';
import { t } from '../../app/text.js';
import { registerMessages as messages } from '../../texts/register.js';
import { subscriptionMessages } from '../../texts/subscription.js';
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
    storedNow[member] === undefined ? hint : `${hint} ${t(subscriptionMessages.storedNow)} ${storedNow[member] || '–'}`;
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
        <legend>{t(messages.where)}</legend>
        {field('sink', t(messages.sink), t(messages.sinkHint), { inputMode: 'url', required: true })}
        {field('origin', t(messages.origin), t(messages.originHint), origins.length > 0 ? { list } : {})}
        <datalist id={list}>
          {origins.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        {field('requestedrate', t(messages.rate), t(messages.rateHint), { inputMode: 'numeric' })}
        {field('expiresat', t(messages.ends), t(messages.endsHint), { type: 'datetime-local', step: 1 })}
      </fieldset>
      <fieldset>
        <legend>{t(messages.which)}</legend>
        <Field
          label={t(messages.types)}
          hint={hintOf('types', t(messages.typesHint))}
          problem={problem}
          pointer="/types"
        >
          {(attributes) => <textarea {...control('types', attributes)} rows={3} />}
        </Field>
        {field('source', t(messages.source), t(messages.sourceHint))}
        {field('subject', t(messages.subject), t(messages.subjectHint))}
        {json('filters', t(messages.filters), t(messages.filtersHint))}
        <details open={draft.filters !== ''}>
          <summary>{t(messages.test)}</summary>
          <FilterTester check={check} areMembersValid={!faults.some(({ pointer }) => pointer.startsWith('/filters'))} />
        </details>
      </fieldset>
      <details>
        <summary>{t(messages.more)}</summary>
        <Field
          label={t(messages.callback)}
          hint={hintOf('callback', t(messages.callbackHint))}
          problem={problem}
          pointer="/callback"
        >
          {(attributes) => (
            <select
              {...attributes}
              value={draft.callback}
              onChange={(event) => onInput('callback', event.currentTarget.value)}
            >
              <option value="offer">{t(messages.callbacks.offer)}</option>
              <option value="never">{t(messages.callbacks.never)}</option>
            </select>
          )}
        </Field>
        {json('protocolsettings', t(messages.settings), t(messages.settingsHint))}
        {json('config', t(messages.config), t(messages.configHint))}
      </details>
    </>
  );
}
