import { effect, signal } from '@preact/signals';
import type { ApiResponse, Change } from '../../kits/client/index.js';
import { api, AssentError, newKey, type Problem } from './api.js';
import { sleep } from '../../base/until.js';
import { isExpired, session } from './session.js';
import { t } from './text.js';
import { commonTexts } from '../texts/common.js';
import { useEffect, useRef, useState } from 'preact/hooks';

export type { Change };

/** `off` without a token that may follow the feed. */
export const connection = signal<'off' | 'connecting' | 'live' | 'lost'>('off');
const listeners = new Set<(change: Change) => void>();

/** A block may concern everything that is shown. Consumers get a change for each of their subscriptions instead. */
export const isBlock = ({ kind }: Change): boolean => kind.startsWith('block.');

/** Calls back for each change until the returned function is called. */
export function onChange(listener: (change: Change) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Follows the feed for as long as the user is signed in. */
export function followLive(): void {
  let stop = new AbortController();
  let hasFollowed = false;
  effect(() => {
    stop.abort();
    stop = new AbortController();
    const token = isExpired.value ? undefined : session.value?.token;
    connection.value = token === undefined ? 'off' : 'connecting';
    if (token === undefined) return;
    void run(stop.signal, hasFollowed);
    hasFollowed = true;
  });
}

async function run(signal: AbortSignal, isAgain: boolean): Promise<void> {
  let isBehind = isAgain;
  const onConnection = (state: 'live' | 'lost') => {
    if (signal.aborted) return;
    connection.value = state;
    if (state === 'lost' || !isBehind) return;
    // It began at the present end: what changed before that is read.
    isBehind = false;
    restarts.value += 1;
  };
  try {
    for await (const change of api.changes({ signal, onConnection })) listeners.forEach((listener) => listener(change));
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof AssentError && error.status === 403) return void (connection.value = 'off');
    connection.value = 'lost';
    // The cursor is no longer known: it continues from the present end.
    if (error instanceof AssentError && error.status === 410) return run(signal, true);
    // Such as a proxy that answers for a registry that restarts.
    await sleep(feedPauseMs, signal);
    if (!signal.aborted) return run(signal, true);
  }
}

/** How often the feed began again at its present end, so that what is shown may be old. */
export const restarts = signal(0);

export interface Everything<T> {
  rows: T[];
  /** There are more than `most`, and they were not read. */
  isCut: boolean;
}

/** All pages of a list, but no further than `most` entries. */
export async function readAll<T>(max: number, pages: AsyncIterable<ApiResponse<T[]>>): Promise<Everything<T>> {
  const rows: T[] = [];
  for await (const { data, next } of pages) {
    rows.push(...data);
    if (rows.length >= max) return { rows, isCut: next !== undefined };
  }
  return { rows, isCut: false };
}

export interface LoadedResource<T> {
  /** What was read last; it stays while it is read again. */
  data: T | undefined;
  problem: Problem | undefined;
  isLoading: boolean;
  reload: () => void;
  /** The answer to a change of it: shown at once, and read again with what else is different. */
  put: (data: T) => void;
}

const livePauseMs = 300;
/** Between two reads during an outage. */
const outagePause = { firstMs: 2_000, maxMs: 30_000 };
/** Until the feed is tried again after a refusal. */
const feedPauseMs = 15_000;

/** The registry did not answer, or cannot: trying again later may help. */
const isOutage = ({ status }: Problem) => status === 0 || status === 429 || status >= 500;

/** Repeats a read that failed because the registry was away: from time to time, and at once when the feed is back. */
export function useOutageEnd(
  { problem, isLoading }: { problem?: Problem | undefined; isLoading: boolean },
  repeat: () => void,
): void {
  const isAway = problem !== undefined && isOutage(problem);
  const isLive = connection.value === 'live';
  const attempts = useRef(0);
  useEffect(() => {
    if (isLoading) return undefined;
    if (!isAway) attempts.current = 0;
    if (!isAway) return undefined;
    const { firstMs, maxMs } = outagePause;
    const timer = setTimeout(repeat, Math.min(maxMs, firstMs * 2 ** attempts.current));
    attempts.current += 1;
    return () => clearTimeout(timer);
  }, [isAway, isLoading]);
  useEffect(() => {
    if (isAway && isLive) repeat();
  }, [isLive]);
}

/**
 * Reads when `key` changes, and again soon after a change of the feed for which `isAbout` is true. A read that is
 * overtaken is stopped. One that failed because the registry was away is repeated, at once when the feed is back.
 */
export function useResource<T>(
  key: string,
  read: (signal: AbortSignal) => Promise<T>,
  isAbout: (change: Change) => boolean = () => false,
): LoadedResource<T> {
  const [state, setState] = useState<{ key: string; data?: T; problem?: Problem | undefined; isLoading: boolean }>({
    key,
    isLoading: true,
  });
  const [turn, setTurn] = useState(0);
  const latest = useRef({ read, isAbout, isLoading: true });
  latest.current = { read, isAbout, isLoading: state.isLoading };

  useEffect(() => {
    const stop = new AbortController();
    setState((before) => (before.key === key ? { ...before, isLoading: true } : { key, isLoading: true }));
    latest.current.read(stop.signal).then(
      (data) => !stop.signal.aborted && setState({ key, data, isLoading: false }),
      (error: unknown) => {
        if (stop.signal.aborted) return;
        const problem = error instanceof AssentError ? error.problem : undefined;
        setState((before) => ({ ...before, problem, isLoading: false }));
        if (problem === undefined) throw error;
      },
    );
    return () => stop.abort();
  }, [key, turn, restarts.value]);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    // A read that is under way ends first, or changes without end would stop every one.
    const readSoon = () => {
      timer = setTimeout(() => {
        timer = undefined;
        if (latest.current.isLoading) readSoon();
        else setTurn((before) => before + 1);
      }, livePauseMs);
    };
    const leave = onChange((change) => {
      if (timer === undefined && latest.current.isAbout(change)) readSoon();
    });
    return () => {
      leave();
      clearTimeout(timer);
    };
  }, [key]);

  const reload = () => setTurn((n) => n + 1);
  // Until the effect above has run, the state is that of the key before.
  const present = state.key === key ? state : { key, isLoading: true };
  useOutageEnd(present, reload);
  const put = (data: T) => {
    setState({ key, data, isLoading: true });
    // A read that is under way may have begun before the change.
    reload();
  };
  return { data: present.data, problem: present.problem, isLoading: present.isLoading, reload, put };
}

/** Reads again from time to time, while the page can be seen. */
export function useEvery(ms: number, work: () => void): void {
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && work(), ms);
    return () => clearInterval(timer);
  }, []);
}

const typingPauseMs = 350;

/** The value, when it has not changed for a moment: for what is asked while the user types. */
export function useSettled<T>(value: T): T {
  const key = JSON.stringify(value);
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), typingPauseMs);
    return () => clearTimeout(timer);
  }, [key]);
  return settled;
}

export interface Action {
  isBusy: boolean;
  problem: Problem | undefined;
  /** Runs unless it is running. Resolves to true if it was done. */
  run(work: () => Promise<unknown>): Promise<boolean>;
  clear(): void;
}

/**
 * The Idempotency-Key of a form: one for one content. Pressing its button twice, or again after a lost connection, does it
 * once; what was corrected is another request.
 */
export function useKey(): (content: unknown) => string {
  const sent = useRef({ text: '', key: '' });
  return (content) => {
    const text = JSON.stringify(content);
    if (sent.current.text !== text) sent.current = { text, key: newKey() };
    return sent.current.key;
  };
}

/** What is missing or wrong before anything is sent. The registry has not seen it. */
export function incomplete(faults: NonNullable<Problem['faults']>): AssentError {
  const detail = t(commonTexts.problems.incompleteNext);
  const problem = { type: 'about:blank', title: t(commonTexts.problems.incomplete), status: 0, detail };
  return new AssentError({ ...problem, code: incompleteCode, requestid: '', faults });
}
export const incompleteCode = 'incomplete';

/** Something that the user asked for: one at a time, with its problem if it failed. */
export function useAction(): Action {
  const [state, setState] = useState<{ isBusy: boolean; problem: Problem | undefined }>({
    isBusy: false,
    problem: undefined,
  });
  const isBusy = useRef(false);
  return {
    ...state,
    clear: () => setState({ isBusy: false, problem: undefined }),
    async run(work) {
      if (isBusy.current) return false;
      isBusy.current = true;
      setState({ isBusy: true, problem: undefined });
      try {
        await work();
        setState({ isBusy: false, problem: undefined });
        return true;
      } catch (error) {
        setState({ isBusy: false, problem: error instanceof AssentError ? error.problem : undefined });
        if (!(error instanceof AssentError)) throw error;
        return false;
      } finally {
        isBusy.current = false;
      }
    },
  };
}
