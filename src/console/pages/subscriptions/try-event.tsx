import { CircleCheck, CircleX } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { api, type Problem, type Schemas } from '../../app/api.js';
import { useResource, useSettled } from '../../app/live.js';
import { t } from '../../app/text.js';
import { filterTexts as texts } from '../../texts/filters.js';
import { registerTexts } from '../../texts/register.js';
import { ProblemView } from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';
import { Badge } from '../../ui/value.js';
import { type Condition, comparisonsIn } from './filter-conditions.js';
import { JsonEditor, noProblem } from './json-editor.js';
import type { FieldFault } from './subscription-draft.js';

/** What decides which events a subscription gets. */
export type Checked = Omit<Schemas['FilterCheck'], 'event' | 'subscription'>;

export interface TriedEvent {
  text: string;
  /** Undefined: one that is made from the form, and follows it. */
  setText: (text: string | undefined) => void;
  isOwn: boolean;
  /** The names of its attributes. */
  attributes: readonly string[];
  result: Schemas['FilterCheckResult'] | undefined;
  problem: Problem | undefined;
  /** Faults of the members, by the registry; and of the event. */
  faults: readonly FieldFault[];
}

/** Asks the registry, whenever the user pauses, whether an event matches. So it also checks the members. */
export function useTriedEvent(wanted: Checked | undefined, conditions: readonly Condition[]): TriedEvent {
  const [typed, setText] = useState<string>();
  const [time] = useState(() => new Date().toISOString());
  const made = useRef('');
  if (wanted !== undefined) made.current = JSON.stringify({ ...eventFor(wanted, conditions), time }, undefined, 2);
  const text = typed ?? made.current;
  const event = parse(text);
  const body = useSettled(wanted === undefined || 'fault' in event ? undefined : { ...wanted, event: event.value });
  const check = useResource(JSON.stringify(body) ?? '', async (signal) =>
    body === undefined ? undefined : (await api.POST('/filters/check', { body, signal })).data,
  );
  // It stays while the next one is on its way.
  const latest = useRef(check.data);
  if (check.data !== undefined || !check.isLoading) latest.current = check.data;
  return {
    text,
    setText,
    isOwn: typed !== undefined,
    attributes: 'value' in event ? Object.keys(event.value) : [],
    result: latest.current,
    problem: check.problem,
    faults: 'fault' in event ? [event.fault] : (check.problem?.faults ?? []),
  };
}

/** An event that matches, as far as single conditions say what does. */
function eventFor({ types, source, subject }: Checked, conditions: readonly Condition[]): Record<string, unknown> {
  const event: Record<string, string> = {
    specversion: '1.0',
    id: '1',
    source: source ?? '/example',
    type: types?.[0] ?? 'com.example.created',
    subject: subject ?? '1',
  };
  const given = { source, type: types?.[0], subject } as Record<string, string | undefined>;
  for (const each of conditions) {
    if (each.kind !== 'compare' || each.isNot) continue;
    const { attribute, operator, value } = each;
    if (given[attribute] !== undefined || !/^[a-z0-9]+$/.test(attribute)) continue;
    event[attribute] = { exact: value, prefix: `${value}1`, suffix: `1${value}` }[operator];
  }
  return event;
}

function parse(text: string): { value: Record<string, unknown> } | { fault: FieldFault } {
  const fault = (why: string) => ({
    fault: { pointer: '/event', rule: '', detail: t(registerTexts.notJson(why)) },
  });
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return { value: value as Record<string, unknown> };
    return fault(text.slice(0, 20));
  } catch (error) {
    return fault(error instanceof Error ? error.message : '');
  }
}

/** An event, each condition with whether it meets it, and what decided marked in the event. */
export function TryEvent({
  of: { text, setText, isOwn, result, problem, faults },
  wanted,
  conditions,
}: {
  of: TriedEvent;
  wanted: Checked | undefined;
  conditions: readonly Condition[];
}) {
  const ofEvent = faults.filter(({ pointer }) => pointer.startsWith('/event'));
  const isKnown = wanted !== undefined && faults.length === 0 && result !== undefined;
  const lines = isKnown ? linesOf(wanted, conditions, result.parts) : [];
  const marks = lines
    .filter(({ matched }) => !matched)
    .flatMap(({ attributes }) => attributes.map((name) => `/${name}`));
  return (
    <section class="card" aria-labelledby="try">
      <div class="head">
        <h2 id="try">{t(texts.try)}</h2>
        <span role="status">
          {isKnown && (
            <Badge look={result.matched ? 'good' : 'bad'} icon={result.matched ? CircleCheck : CircleX}>
              {t(result.matched ? texts.matches : texts.matchesNot)}
            </Badge>
          )}
        </span>
      </div>
      <JsonEditor
        label={t(texts.event)}
        isLabelUnseen
        value={text}
        onInput={setText}
        marks={marks}
        pointer="/event"
        problem={{ ...noProblem, faults: ofEvent }}
      />
      <ProblemView problem={problem?.faults?.length ? undefined : problem} isRead />
      {isKnown ? (
        <Lines of={lines} />
      ) : (
        (wanted === undefined || ofEvent.length < faults.length) && <p class="soft">{t(texts.mendFirst)}</p>
      )}
      {isKnown && lines.length === 0 && <p class="soft">{t(texts.every)}</p>}
      {isOwn && (
        <button type="button" class="quiet" onClick={() => setText(undefined)}>
          {t(texts.fromForm)}
        </button>
      )}
    </section>
  );
}

interface Line {
  text: ComponentChildren;
  matched: boolean;
  /** What it is about. */
  attributes: readonly string[];
  members: readonly Line[];
}

function linesOf(
  { types = [], source, subject }: Checked,
  conditions: readonly Condition[],
  parts: Schemas['FilterCheckResult']['parts'],
): Line[] {
  const matches = (pointer: string) =>
    parts.find((part) => part.pointer === pointer || part.pointer.startsWith(`${pointer}/`))?.matched ?? true;
  const line = (pointer: string, attribute: string, words: string, value: string): Line => ({
    text: (
      <>
        {attribute} {words} <bdi>{value}</bdi>
      </>
    ),
    matched: matches(pointer),
    attributes: [attribute],
    members: [],
  });
  const is = t(texts.operators.exact[0]);
  const of = (each: Condition): Line => {
    const word = each.isNot ? 1 : 0;
    const attributes = comparisonsIn([each]).map(({ attribute }) => attribute);
    const matched = matches(each.part);
    if (each.kind === 'compare') {
      return line(each.part, each.attribute, t(texts.operators[each.operator][word]), each.value);
    }
    if (each.kind === 'group') {
      const members = each.members.map(of);
      const isAll = each.of === 'all' && !each.isNot;
      const holds = isAll ? members.every((member) => member.matched) : matched;
      return { text: t(texts.groups[each.of][word]), matched: holds, attributes, members };
    }
    const text = each.kind === 'sql' ? each.text : JSON.stringify(each.value);
    const words = each.kind === 'sql' ? `${t(texts.expressions.sql[word])} ` : '';
    return { text: [words, <code key="text">{text}</code>], matched, attributes, members: [] };
  };
  const isOneOf = types.length === 1 ? is : t(texts.isOneOf);
  return [
    ...(types.length > 0 ? [line('/types', 'type', isOneOf, types.join(', '))] : []),
    ...(source === undefined ? [] : [line('/source', 'source', is, source)]),
    ...(subject === undefined ? [] : [line('/subject', 'subject', is, subject)]),
    ...conditions.map(of),
  ];
}

function Lines({ of }: { of: readonly Line[] }) {
  if (of.length === 0) return null;
  return (
    <ul class="verdicts">
      {of.map(({ text, matched, members }, place) => (
        <li key={place} class={matched ? 'good' : 'bad'}>
          <Icon of={matched ? CircleCheck : CircleX} />
          <div>
            <span class="unseen">{t(matched ? texts.holds : texts.holdsNot)} </span>
            {text}
            <Lines of={members} />
          </div>
        </li>
      ))}
    </ul>
  );
}
