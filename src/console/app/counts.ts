import { computed, effect, signal, untracked } from '@preact/signals';
import { api, AssentError, type Problem, type Schemas } from './api.js';
import { onChange } from './live.js';
import { isAdmin, isConsumer, isExpired, session } from './session.js';
import { language } from './text.js';

interface Overview {
  data?: Schemas['Overview'] | undefined;
  problem?: Problem | undefined;
  isLoading: boolean;
  /** When it was read. */
  at?: string | undefined;
}

/** What needs a person, and how much there is of everything: read once for the menu, the searches and Today. */
export const overview = signal<Overview>({ isLoading: true });

/** After a change: soon, but not more often than this, however many there are. */
const soonMs = 300;
const pauseMs = 2_000;
/** What no change announces, such as a hold that ends. */
const everyMs = 30_000;
let running = new AbortController();
let timer: ReturnType<typeof setTimeout> | undefined;
let startedAt = 0;

export async function readOverview(): Promise<void> {
  running.abort();
  running = new AbortController();
  clearTimeout(timer);
  timer = undefined;
  startedAt = Date.now();
  const { signal } = running;
  overview.value = { ...overview.peek(), isLoading: true };
  try {
    const { data } = await api.GET('/overview', { signal });
    overview.value = { data, isLoading: false, at: new Date().toISOString() };
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof AssentError)) throw error;
    overview.value = { ...overview.peek(), problem: error.problem, isLoading: false };
  }
}

/** Keeps it current for as long as the user is signed in. */
export function followOverview(): void {
  const isOpen = computed(() => !isExpired.value && (isAdmin.value || isConsumer.value));
  const identity = computed(() => session.value?.identity);
  const soon = () => {
    timer ??= setTimeout(
      () => {
        timer = undefined;
        if (overview.peek().isLoading) soon();
        else void readOverview();
      },
      Math.max(soonMs, startedAt + pauseMs - Date.now()),
    );
  };
  // What another user has is not for the next one.
  effect(() => {
    overview.value = { isLoading: identity.value !== undefined };
  });
  // Also in another language.
  effect(() => {
    if (!isOpen.value || identity.value === undefined || language.value === undefined) return undefined;
    void untracked(readOverview);
    const leave = onChange(soon);
    const clock = setInterval(() => document.visibilityState === 'visible' && void readOverview(), everyMs);
    return () => {
      leave();
      clearInterval(clock);
      clearTimeout(timer);
      timer = undefined;
      running.abort();
    };
  });
}

interface Count {
  count: number;
  /** There may be more. */
  isAtLeast: boolean;
}

/** By the place in the menu or the status: how many there are. For Today (`''`), how many need a person. */
export const counts = computed<Readonly<Record<string, Count | undefined>>>(() => {
  const { groups = [], totals = [] } = overview.value.data ?? {};
  const named = [
    ...groups.map(({ group, ...of }) => ({ name: group, ...of })),
    ...totals.map(({ counted, ...of }) => ({ name: counted === 'attention' ? '' : (counted as string), ...of })),
  ];
  return Object.fromEntries(named.map(({ name, count, more }) => [name, { count, isAtLeast: more }]));
});
