import { useEffect, useRef, useState } from 'preact/hooks';
import { api, type Problem, type Schemas } from '../../app/api.js';
import { t } from '../../app/text.js';
import { registerTexts as texts } from '../../texts/subscriptions.js';
import { ProblemView, Field, faultsAt } from '../../ui/form.js';
import { useResource } from '../../app/live.js';
import type { FieldFault } from './subscription-draft.js';

/**
 * Where the value at a JSON pointer stands in a text of valid JSON, as offsets: for a missing member, that of the object
 * around it. Undefined for a text that is no JSON.
 */
function placeOf(text: string, pointer: string): { from: number; to: number } | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const places = placesIn(text);
  for (let path = pointer; ; path = path.slice(0, path.lastIndexOf('/'))) {
    const found = places.get(path);
    if (found !== undefined || path === '') return found;
  }
}

/** The line of an offset, from 1. */
const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

function placesIn(text: string): Map<string, { from: number; to: number }> {
  const places = new Map<string, { from: number; to: number }>();
  let at = 0;
  const skip = (pattern: RegExp) => {
    pattern.lastIndex = at;
    at = pattern.test(text) ? pattern.lastIndex : at;
  };
  const space = /\s*/y;
  const string = /"(?:[^"\\]|\\.)*"/y;
  const other = /[^\s,\]}]+/y;
  const read = (pointer: string) => {
    skip(space);
    const from = at;
    const open = text[at];
    if (open === '{' || open === '[') {
      at += 1;
      skip(space);
      for (let index = 0; text[at] !== '}' && text[at] !== ']'; index += 1) {
        let name = String(index);
        if (open === '{') {
          const start = at;
          skip(string);
          name = (JSON.parse(text.slice(start, at)) as string).replaceAll('~', '~0').replaceAll('/', '~1');
          skip(space);
          at += 1;
        }
        read(`${pointer}/${name}`);
        skip(space);
        if (text[at] === ',') at += 1;
        skip(space);
      }
      at += 1;
    } else skip(open === '"' ? string : other);
    places.set(pointer, { from, to: at });
  };
  read('');
  return places;
}

/** JSON that a person edits. Each fault below it leads to its place in the text. */
export function JsonEditor({
  label,
  hint,
  value,
  onInput,
  problem,
  pointer,
  rows = 5,
}: {
  label: string;
  hint?: string;
  value: string;
  onInput: (text: string) => void;
  problem: Problem | undefined;
  pointer: string;
  rows?: number;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const places = faultsAt(problem, pointer).flatMap((fault) => {
    const place = placeOf(value, fault.pointer.slice(pointer.length));
    return place === undefined ? [] : [{ ...place, line: lineAt(value, place.from) }];
  });
  const select = ({ from, to }: { from: number; to: number }) => {
    area.current?.focus();
    area.current?.setSelectionRange(from, to);
  };
  return (
    <Field label={label} hint={hint} problem={problem} pointer={pointer}>
      {(attributes) => (
        <>
          <textarea
            {...attributes}
            ref={area}
            rows={Math.min(24, Math.max(rows, value.split('\n').length))}
            spellcheck={false}
            value={value}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
          {places.length > 0 && (
            <p class="actions">
              {places.map((place) => (
                <button key={`${place.from} ${place.to}`} type="button" onClick={() => select(place)}>
                  {t(texts.goTo(String(place.line)))}
                </button>
              ))}
            </p>
          )}
        </>
      )}
    </Field>
  );
}

/** A stored subscription, or what decides which events a new one gets. */
export type Checked = Omit<Schemas['FilterCheck'], 'event'>;

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
  setEvent: (text: string) => void;
  answer: Schemas['FilterCheckResult'] | undefined;
  isChecking: boolean;
  problem: Problem | undefined;
  /** Faults of the members, by the registry; and of the event. */
  faults: readonly FieldFault[];
}

/** Asks the registry, whenever the user pauses, whether an event matches. So it also checks the members. */
export function useFilterCheck(checked: Checked | undefined, first: { type?: string; source?: string }): FilterCheck {
  const [event, setEvent] = useState(() => JSON.stringify(sample(first), undefined, 2));
  const parsed = parse(event);
  const body = useSettled(checked === undefined || 'fault' in parsed ? undefined : { ...checked, event: parsed.value });
  const check = useResource(JSON.stringify(body) ?? '', async (signal) =>
    body === undefined ? undefined : (await api.POST('/filters/check', { body, signal })).data,
  );
  const faults = 'fault' in parsed ? [parsed.fault] : (check.problem?.faults ?? []);
  return { event, setEvent, answer: check.data, isChecking: check.isLoading, problem: check.problem, faults };
}

function sample({ type = 'com.example.created', source = '/example' }): object {
  return { specversion: '1.0', id: '1', source, type, subject: '1', time: new Date().toISOString() };
}

function parse(text: string): { value: Record<string, unknown> } | { fault: FieldFault } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return { value: value as Record<string, unknown> };
  } catch (error) {
    const detail = t(texts.notJson(error instanceof Error ? error.message : ''));
    return { fault: { pointer: '/event', rule: '', detail } };
  }
  return { fault: { pointer: '/event', rule: '', detail: t(texts.notJson(text.slice(0, 20))) } };
}

/** An event, and whether it matches. */
export function FilterChecker({ check, areMembersValid = true }: { check: FilterCheck; areMembersValid?: boolean }) {
  const { event, setEvent, answer, isChecking, problem, faults } = check;
  const ofEvent = faults.filter(({ pointer }) => pointer.startsWith('/event'));
  const others = problem?.faults?.length ? undefined : problem;
  return (
    <div class="checker">
      <p>{t(texts.checkHint)}</p>
      <JsonEditor
        label={t(texts.event)}
        value={event}
        onInput={setEvent}
        rows={8}
        pointer="/event"
        problem={{ ...noProblem, faults: ofEvent }}
      />
      <ProblemView problem={others} isRead />
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

function Answer({ of: { matched, pointer, detail } }: { of: Schemas['FilterCheckResult'] }) {
  if (matched) return <span class="badge good">{t(texts.matches)}</span>;
  return (
    <>
      <span class="badge bad">{t(texts.matchesNot)}</span> <code>{pointer}</code> <bdi>{detail}</bdi>
    </>
  );
}
