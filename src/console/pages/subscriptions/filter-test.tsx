import { useEffect, useState } from 'preact/hooks';
import { api, type Problem, type Schemas } from '../../app/api.js';
import { useResource } from '../../app/resource.js';
import { t } from '../../app/text.js';
import { registerTexts as texts } from '../../texts/register.js';
import { JsonEditor } from './json-editor.js';
import { ProblemView } from '../../ui/problem.js';
import type { Fault } from './subscription-draft.js';

type FilterTest = Schemas['FilterTest'];
/** A stored subscription, or what decides which events a new one gets. */
export type Tested = Omit<FilterTest, 'event'>;

const typingPauseMs = 350;

function useSettled<T>(value: T): T {
  const key = JSON.stringify(value);
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), typingPauseMs);
    return () => clearTimeout(timer);
  }, [key]);
  return settled;
}

export interface FilterCheck {
  event: string;
  setEvent(text: string): void;
  answer: Schemas['FilterTestAnswer'] | undefined;
  isChecking: boolean;
  problem: Problem | undefined;
  /** Faults of the members, by the registry; and of the event. */
  faults: readonly Fault[];
}

/** Asks the registry, whenever the user pauses, whether an event matches. So it also checks the members. */
export function useFilterCheck(tested: Tested | undefined, first: { type?: string; source?: string }): FilterCheck {
  const [event, setEvent] = useState(() => JSON.stringify(sample(first), undefined, 2));
  const parsed = parse(event);
  const body = useSettled(tested === undefined || 'fault' in parsed ? undefined : { ...tested, event: parsed.value });
  const check = useResource(JSON.stringify(body) ?? '', async (signal) =>
    body === undefined ? undefined : (await api.POST('/filters/test', { body, signal })).data,
  );
  const faults = 'fault' in parsed ? [parsed.fault] : (check.problem?.faults ?? []);
  return { event, setEvent, answer: check.data, isChecking: check.isLoading, problem: check.problem, faults };
}

function sample({ type = 'com.example.created', source = '/example' }): object {
  return { specversion: '1.0', id: '1', source, type, subject: '1', time: new Date().toISOString() };
}

function parse(text: string): { value: Record<string, unknown> } | { fault: Fault } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return { value: value as Record<string, unknown> };
  } catch (error) {
    const detail = t(texts.notJson(error instanceof Error ? error.message : ''));
    return { fault: { pointer: '/event', rule: '', detail } };
  }
  return { fault: { pointer: '/event', rule: '', detail: t(texts.notJson(text.slice(0, 20))) } };
}

/** An event to try, and the answer. */
export function FilterTester({ check, areMembersValid = true }: { check: FilterCheck; areMembersValid?: boolean }) {
  const { event, setEvent, answer, isChecking, problem, faults } = check;
  const ofEvent = faults.filter(({ pointer }) => pointer.startsWith('/event'));
  const others = problem?.faults?.length ? undefined : problem;
  return (
    <div class="tester">
      <p>{t(texts.testHint)}</p>
      <JsonEditor
        label={t(texts.event)}
        value={event}
        onInput={setEvent}
        rows={8}
        pointer="/event"
        problem={{ ...noProblem, faults: ofEvent }}
      />
      <ProblemView problem={others} />
      <p role="status">
        {!areMembersValid || (faults.length > 0 && ofEvent.length < faults.length)
          ? t(texts.mendFirst)
          : isChecking
            ? t(texts.checking)
            : answer !== undefined && <Answer of={answer} />}
      </p>
    </div>
  );
}

/** Carries faults to fields. */
export const noProblem: Problem = { type: 'about:blank', title: '', status: 400, detail: '', code: '', requestid: '' };

function Answer({ of: { matched, pointer, detail } }: { of: Schemas['FilterTestAnswer'] }) {
  if (matched) return <span class="badge good">{t(texts.matches)}</span>;
  return (
    <>
      <span class="badge bad">{t(texts.matchesNot)}</span> <code>{pointer}</code> <bdi>{detail}</bdi>
    </>
  );
}
