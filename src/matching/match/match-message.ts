// Input: events. Output: the sinks that get them. `replica.ts` is the state of a process; it asks `index/` which
// subscriptions match the event, and `pairs/` whether the origin may send to their sinks. `filter.ts` validates filters
// at registration, `cesql/` compiles their expressions, and `explain.ts` says why a filter does not match.

import { RegistryError } from '../../base/errors.js';
import type { ReadEvent } from '../../events/draft.js';
import { faultOfBreach, presentBreach, type RuleBreach } from '../../events/rule.js';
import { readEvents, type MessageLimits, type EventRequest } from '../../events/read-events.js';
import { judgeEvent, checkBatch, type Breaches } from '../../events/check-event.js';
import type { components } from '../../base/contract/contract.gen.js';
import type { SpanAttributes } from '../../base/tracing.js';
import { originTexts } from '../../base/texts/origins.js';
import type { MatchedPair } from '../replica/known-pairs.js';
import type { KnownOrigin, Replica } from '../replica/replica.js';
import type { Work } from './work.js';

type MatchedSink = components['schemas']['MatchedSink'];
type Explanation = components['schemas']['Explanation'];
type Member = keyof MatchedSink | keyof components['schemas']['MatchResult'] | 'faults';
export type MatchResult = components['schemas']['MatchResult'];
export type BatchResult = components['schemas']['BatchResult'];

/** The result of one event of a message. */
export interface EventResult extends Breaches {
  event: ReadEvent;
  pairs: readonly MatchedPair[];
  explanations?: Explanation[];
  /** The log position at which this event was matched, if it is later than that of the message. */
  revision?: string;
}

/** A message that was read, validated and matched. */
export interface MatchedMessage {
  isBatch: boolean;
  results: EventResult[];
  /** How many events have been matched. */
  matched: number;
  /** The log position at which the first event was matched. */
  revision?: string;
}

/** The credential and the signing secrets of a webhook, each with the previous one while it overlaps. */
type HeldSecrets = Pick<
  MatchedSink,
  'sinkcredential' | 'previouscredential' | 'signingsecrets' | 'signingoverlapuntil'
>;

/** `unreadable` if no key opens one of them. */
export type Secrets = HeldSecrets | 'unreadable';

/** Each of the oldest subscription of the pair that has one. */
export type SecretsOf = (pair: MatchedPair) => Secrets | undefined;

/** The token of the grant, or why there is none. */
export type GrantTokenOf = (pair: MatchedPair) => Pick<MatchedSink, 'granttoken' | 'granttokendenial'>;

/** What a match says of a sink that is not in the memory of the index. */
export type AdditionsOf = (pair: MatchedPair) => (HeldSecrets & ReturnType<GrantTokenOf>) | 'unreadable' | undefined;

const tooLarge: ReadonlyMap<string, 'event_too_large' | 'body_too_large'> = new Map([
  ['intg-std-015.size', 'event_too_large'],
  ['intg-std-015.batch_size', 'body_too_large'],
]);
const noPairs: readonly MatchedPair[] = [];

/** The origin of this name in any letter case, or the default one. Errors: `origin_not_found`, `no_default_origin`. */
export function originFor(replica: Replica, tenant: string, name: string | undefined): KnownOrigin {
  const origin = name === undefined ? replica.defaultOrigin(tenant) : replica.origin(tenant, name.toLowerCase());
  if (origin) return origin;
  throw name === undefined
    ? new RegistryError('no_default_origin', originTexts.nameOne)
    : new RegistryError('origin_not_found', originTexts.unknown);
}

/**
 * Reads and validates the events of a message in any content mode; `matchEvents` matches them. An invalid event of a
 * batch does not affect the others. Errors: those of reading; `invalid_event`, `event_too_large`, and for a whole batch
 * `body_too_large`, with the places.
 */
export function readMessage(origin: KnownOrigin, message: EventRequest, limits?: MessageLimits): MatchedMessage {
  const read = readEvents(message, limits);
  if ('code' in read)
    throw new RegistryError(read.code, 'The message cannot be read as events. The faults say why.', {
      faults: read.faults,
    });
  if (read.mode !== 'batched') {
    const event = read.events[0] as ReadEvent;
    const result = judge(origin, event);
    if (result.faults.length > 0) throw refused(result.faults);
    return { isBatch: false, results: [result], matched: 0 };
  }
  const batch = checkBatch(origin.profile, { count: read.events.length, bytes: read.bytes });
  if (batch.faults.length > 0) throw refused(batch.faults, 'batch');
  // One step for all events, then the next step: so the code of a step stays in the CPU cache.
  const results = read.events.map((event) => judge(origin, event));
  // The response has no other place for the warnings of a batch, and `/events/check` has them here too.
  for (const { warnings } of results) warnings.unshift(...batch.warnings);
  return { isBatch: true, results, matched: 0 };
}

function judge({ profile }: KnownOrigin, event: ReadEvent): EventResult {
  const { faults, warnings } = judgeEvent(profile, event);
  return { event, faults, warnings, pairs: noPairs };
}

/**
 * Finds the sinks that get the events. Returns false if the work was stopped: then call it again in the next slice,
 * with the replica and the origin of that time, and it continues. Each event is matched at one log position. A change
 * in between, such as a revocation, counts from the next event on. Throws `match_too_expensive` if the budget is used
 * up.
 */
export function matchEvents(
  replica: Replica,
  origin: KnownOrigin,
  message: MatchedMessage,
  work: Work,
  revision: string,
): boolean {
  for (; message.matched < message.results.length; message.matched += 1) {
    const result = message.results[message.matched] as EventResult;
    if (!('event' in result.event) || result.faults.length > 0) continue;
    work.isStopped = work.isOut;
    const pairs = work.isStopped ? undefined : replica.match(origin, result.event.event.attributes, work);
    if (work.isOver) throw work.tooExpensive();
    if (pairs === undefined) return false;
    result.pairs = pairs;
    message.revision ??= revision;
    if (message.revision !== revision) result.revision = revision;
  }
  return true;
}

/** What the span of a match says. */
export function spanOfMatch(origin: KnownOrigin, { isBatch, results }: MatchedMessage, work?: Work): SpanAttributes {
  return {
    origin: origin.name,
    ...(isBatch && { events: results.length }),
    sinks: results.reduce((sum, { pairs }) => sum + pairs.length, 0),
    steps: work?.spent,
  };
}

// The response is assembled as text: building objects just for JSON.stringify would cost more than the matching.

/**
 * The response body of `POST /v1/match`: a MatchResult, or a BatchResult for a batch. `revision` is used if no event of
 * the message was matched.
 */
export function textOfMatch(
  revision: string,
  origin: KnownOrigin,
  message: MatchedMessage,
  additionsOf?: AdditionsOf,
): string {
  const { isBatch, results } = message;
  const head = headText(message.revision ?? revision, origin);
  if (!isBatch) return `${head}${outcomeText(results[0] as EventResult, additionsOf)}}`;
  const texts = results.map((result) =>
    result.faults.length > 0
      ? memberText('faults', result.faults.map(presentBreach))
      : outcomeText(result, additionsOf),
  );
  const entries = texts.map((text, place) => {
    const own = results[place]?.revision;
    return own === undefined ? `{${text}}` : `{"revision":"${own}",${text}}`;
  });
  return `${head}"events":[${entries.join(',')}]}`;
}

/** The same for one pair, as an event shows it that matches every active subscription (`Replica.sinkOf`). */
export function textOfPair(
  revision: string,
  origin: KnownOrigin,
  pair: MatchedPair,
  additionsOf?: AdditionsOf,
): string {
  return `${headText(revision, origin)}${outcomeText({ pairs: [pair], warnings: [] }, additionsOf)}}`;
}

/** The same as an object. */
export function sinkOfPair(pair: MatchedPair, secrets?: HeldSecrets): MatchedSink {
  return JSON.parse(`{${sinkText(pair, secrets)}}`) as MatchedSink;
}

function headText(revision: string, { name, verified }: KnownOrigin): string {
  // A DNS name needs no escapes.
  return `{"revision":"${revision}","origin":"${name}",${verified === true ? '"verified":true,' : ''}`;
}

/** The members of the response for one event. */
function outcomeText(
  { pairs, warnings, explanations }: Pick<EventResult, 'pairs' | 'warnings' | 'explanations'>,
  additionsOf: AdditionsOf | undefined,
): string {
  let sinks = '';
  let withheld = '';
  for (let place = 0; place < pairs.length; place += 1) {
    const pair = pairs[place] as MatchedPair;
    const additions = additionsOf?.(pair);
    if (additions === 'unreadable') withheld += `,{${sinkText(pair)}}`;
    else sinks += `,{${sinkText(pair, additions)}}`;
  }
  let text = `"sinks":[${sinks.slice(1)}]`;
  // In `sinks`, a sender that ignores this case would deliver without them.
  if (withheld !== '') text += `,"withheld":[${withheld.slice(1)}]`;
  if (warnings.length > 0) text += `,${memberText('warnings', warnings.map(presentBreach))}`;
  return explanations === undefined ? text : `${text},${memberText('explanations', explanations)}`;
}

function sinkText(pair: MatchedPair, additions?: object): string {
  const { sink, subscriptions, allowedRate, expiresAt, heldUntil, protocolSettings } = pair;
  const rate = typeof allowedRate === 'number' ? allowedRate : `"${allowedRate}"`;
  // UUIDs need no escapes. An agreement needs no subscription.
  const ids = subscriptions.length === 0 ? '' : `"${subscriptions.join('","')}"`;
  let text = `"sink":${JSON.stringify(sink)},"subscriptions":[${ids}],"allowedrate":${rate},"expiresat":"${expiresAt}","contentmode":"${protocolSettings?.['contentmode'] === 'binary' ? 'binary' : 'structured'}"`;
  if (heldUntil !== undefined) text += `,"helduntil":"${heldUntil}"`;
  if (protocolSettings !== undefined) text += `,${memberText('protocolsettings', protocolSettings)}`;
  if (pair.hasCredential) text += ',"hascredential":true';
  if (pair.hasSigningSecret) text += ',"hassigningsecret":true';
  // The members of an object that is never empty.
  return additions === undefined ? text : `${text},${JSON.stringify(additions).slice(1, -1)}`;
}

function memberText(name: Member, value: unknown): string {
  return `"${name}":${JSON.stringify(value)}`;
}

function refused(faults: readonly RuleBreach[], what: 'event' | 'batch' = 'event'): RegistryError {
  const [code = 'invalid_event'] = faults.flatMap(({ rule }) => tooLarge.get(rule) ?? []);
  return new RegistryError(code, `The ${what} breaks a rule of its event profile.`, {
    faults: faults.map(faultOfBreach),
  });
}
