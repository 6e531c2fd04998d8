import { setMaxListeners } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { PublicKey } from '../../../signatures/keys.js';
import { fieldsOf } from '../../../signatures/message-signature.js';
import { isAttribute, verifyRequest } from '../../../signatures/request-signature.js';
import type { Certificate } from '../authority.js';
import type { Case, CaseResult, ConformanceProfile } from '../case.js';
import { evidenceOf, evidenceOfCall, type Exchange, isDelivery, startHost } from './exchange.js';
import type { Seen } from './findings.js';
import { judges } from './judges.js';
import { createPlay, untilNothingSince, usualPace, type Pace, type Played, type Scenario } from './played.js';
import { control, createWebhooks } from './webhooks.js';

/** What the sender under test is asked to do: to get the consent of the webhook, and to send it events. */
export interface Assignment {
  url: string;
  case: string;
  /** What the webhook does, for people. */
  does: string;
  /** How many events it is to send there. */
  events: number;
  /** Counted from 1. */
  instance: number;
  instances: number;
}

/**
 * Lets the sender under test work. Resolves when it is done, at the latest soon after the signal: with how it ended, by
 * the URL of the webhook, as a sentence for reports. URLs with which it was not done are absent.
 */
export type Drive = (assignments: readonly Assignment[], signal: AbortSignal) => Promise<ReadonlyMap<string, string>>;

interface SenderRun {
  cases: readonly Case[];
  profile: ConformanceProfile;
  /** The name or IPv4 address in the URLs, and a port (0 for a free one). */
  listen: { host: string; port: number };
  /** For that name. */
  certificate: Certificate;
  timeoutMs: number;
  drive: Drive;
  /** The public keys of the sender. */
  keys?: readonly PublicKey[] | undefined;
  pace?: Partial<Pace> | undefined;
}

const maxEvidence = 20;

/**
 * Plays the webhooks of the cases, all at once, and judges what the sender did. It watches every webhook until the
 * sender is done, or until the time-out. Throws a UsageError if it cannot listen, and whatever `drive` throws.
 */
export async function runSender(run: SenderRun): Promise<CaseResult[]> {
  const { cases, profile, listen, certificate, timeoutMs, drive, keys } = run;
  const pace = { ...usualPace, longestPauseMs: timeoutMs / 4, ...run.pace };
  const over = new AbortController();
  // Each wait of each webhook listens to it.
  setMaxListeners(0, over.signal);
  const stray: Exchange[] = [];
  const played = new Map<string, { webhook: Played; play: ReturnType<typeof createPlay> }>();
  const scene: Scenario = {
    pace,
    signal: over.signal,
    lastAt: 0,
    targetOf: pathOf,
    callMs: timeoutMs / 2,
    work: new Set(),
  };
  // While this process stands still, requests wait in front of it, and then seem to arrive at once.
  const stalls = monitorEventLoopDelay({ resolution: 20 });
  stalls.enable();

  const host = await startHost({
    ...listen,
    certificate,
    onRequest(exchange) {
      scene.lastAt = exchange.at;
      const found = played.get(/^\/([^/?]*)/.exec(exchange.target)?.[1] ?? '');
      (found?.webhook.exchanges ?? stray).push(exchange);
      return { reply: async () => (found ? found.play(exchange) : { status: 404, headers: {} }) };
    },
  });
  const base = `https://${listen.host}:${host.port}`;
  const isWanted = (id: string) => id === control || cases.some((each) => each.id === id);
  for (const webhook of createWebhooks().filter((each) => isWanted(each.case))) {
    const fresh = { exchanges: [], calls: [], holdUntil: undefined, wasWaiting: false };
    const of: Played = { ...webhook, url: base + pathOf(webhook.name), ...fresh };
    played.set(webhook.name, { webhook: of, play: createPlay(of, scene) });
  }
  const webhooks = [...played.values()].map(({ webhook }) => webhook);

  const startedAt = performance.now();
  const timer = setTimeout(() => over.abort(), timeoutMs);
  try {
    const ends = await drive(webhooks.flatMap(assignmentsOf), over.signal);
    // What is under way when the sender is done.
    while (scene.work.size > 0) await Promise.all(scene.work);
    await untilNothingSince(() => scene.lastAt, pace.quietMs, pace.longestPauseMs, over.signal);
    const isSigned = ({ case: id }: Played) => id === 'S16' || id === 'S17';
    const toVerify = webhooks.filter(isSigned).flatMap(({ exchanges }) => exchanges);
    const seen: Seen = {
      profile,
      signatureFaults: keys && new Map((await Promise.all(toVerify.map((each) => faultOf(each, keys)))).flat()),
      stray,
      timeoutMs,
      watchedMs: performance.now() - startedAt,
      stallMs: stalls.max / 1e6,
      endedAt: performance.now(),
      endOf: ({ url }) => ends.get(url),
      hasDelivered: webhooks.some(({ name, exchanges }) => name === control && exchanges.some(isDelivery)),
      all: webhooks,
      of: (name) => played.get(name)?.webhook as Played,
    };
    return cases.map((each) => resultOf(each, seen));
  } finally {
    clearTimeout(timer);
    stalls.disable();
    over.abort();
    await host.stop();
  }
}

/** As a webhook would have verified it when it arrived. */
async function faultOf(exchange: Exchange, keys: readonly PublicKey[]): Promise<Array<[Exchange, string]>> {
  const { at, scheme, method, target, lines, body } = exchange;
  const fieldOf = fieldsOf(lines);
  const request = { method, url: `${scheme}://${fieldOf('host')?.toLowerCase()}${target}`, fieldOf };
  const verification = await verifyRequest(request, {
    keyOf: async (keyid) => keys.find(({ kid }) => kid === keyid),
    body: isDelivery(exchange) ? body : undefined,
    mustCover: lines.map(([name]) => name.toLowerCase()).filter(isAttribute),
    now: Math.floor((Date.now() - (performance.now() - at)) / 1_000),
  });
  return verification.ok ? [] : [[exchange, verification.detail]];
}

/** The query is as real ones are: what a sender decodes, sorts or encodes again differs. */
function pathOf(name: string): string {
  return `/${name}/events?z=1&tenant=a%2Fb&z=2&empty=`;
}

function assignmentsOf({ url, case: id, does, events, instances = 1 }: Played): Assignment[] {
  if (events === 0) return [];
  return Array.from({ length: instances }, (_, index) => ({
    url,
    case: id,
    does,
    events,
    instance: index + 1,
    instances,
  }));
}

function resultOf(each: Case, seen: Seen): CaseResult {
  const webhooks = seen.all.filter((webhook) => webhook.case === each.id);
  const verdict = judges[each.id as keyof typeof judges](seen);
  const events = webhooks.flatMap(({ exchanges, calls }) => [
    ...exchanges.map((exchange) => ({ at: exchange.at, evidence: evidenceOf(exchange) })),
    ...calls.map((call) => ({ at: call.at, evidence: evidenceOfCall(call) })),
  ]);
  const times = events.map(({ at }) => at).sort((a, b) => a - b);
  return {
    ...each,
    ...verdict,
    evidence: events
      .sort((a, b) => a.at - b.at)
      .slice(0, maxEvidence)
      .map(({ evidence }) => evidence),
    duration: Math.round((times.at(-1) ?? 0) - (times[0] ?? 0)),
  };
}
