import type { IncomingMessage } from 'node:http';
import type { Fault } from '../errors.js';
import { brokenParameters, type Operation } from '../http/contract.js';
import { contentTag, namesTag } from '../http/entity-tag.js';
import { readJsonBody } from '../http/json-body.js';
import { ageHeader, type LaneAnswer, type LaneCall, type LaneHandler, type LaneRoute } from '../http/lane.js';
import { indexLoading, type Replica } from '../matching/replica.js';
import { copyBytes, viewOf } from '../matching/write-bytes.js';
import { parseOriginName } from '../origins/origin-name.js';
import { presentPermission, type AskedPair } from './permission.js';
import { PlainPair } from './plain-pair.js';
import { beforeOrigin, mostPairs, PlainPairs } from './read-pairs.js';
import { mostBesidesPair, tagOfGranted, writeGranted } from './write-permission.js';

/** Of all that stands up to the end of an origin, letters in upper case are what this bit changes. */
const toLower = 0x20;
const [comma, opening, closing] = Buffer.from(',[]') as unknown as [number, number, number];

export interface PermissionLaneSettings {
  /** What look-ups are answered from; undefined while it is being loaded. */
  replica: () => Replica | undefined;
  /** Seconds since the replica was known to be current, if that is not just now. */
  age: () => number | undefined;
}

export interface PermissionLookUp extends PermissionLaneSettings {
  /** Undefined for a text that may be the sink of a grant, else the fault. */
  faultOfSink: (sink: string) => Omit<Fault, 'pointer'> | undefined;
}

interface Tagged {
  body: string;
  tag: string;
}

/** A permission may be kept, but asked about again before each use, and never shared between callers. */
export const permissionHeaders = { 'Cache-Control': 'private, no-cache', Vary: 'Authorization' };

/** `GET /v1/permissions`: may this origin send to this sink? From memory; the database is not asked. */
export function createPermissionLane({
  replica,
  age,
  faultOfSink,
}: PermissionLookUp): Required<Pick<LaneRoute, 'handle' | 'answerQuery'>> {
  const asked = new PlainPair();

  /** The answer that most get to what was asked, and its tag; undefined for any other, which goes the long way. */
  function granted({ pairs, numberOf, now }: Replica, tenant: string): Tagged | undefined {
    const { bytes, view, origin, sinkFrom, sinkTo, sinkHash } = asked;
    const pair = pairs.find(numberOf(tenant, origin), bytes, sinkFrom, sinkTo, sinkHash);
    if (pairs.denial(pair, now()) !== undefined) return undefined;
    const body = bytes.toString('latin1', 0, writeGranted(pairs, pair, view, sinkTo));
    return { body, tag: tagOfGranted(pairs, pair, body) };
  }

  function other(known: Replica, tenant: string, pair: AskedPair): Tagged {
    const permission = known.permission(tenant, pair.origin, pair.sink);
    // Looked at where there is no grant: whoever has one pays nothing for it.
    if (permission.grant === undefined) checkPair(pair);
    const body = JSON.stringify(presentPermission(pair.origin, pair.sink, permission));
    return { body, tag: contentTag(body) };
  }

  function checkPair(pair: AskedPair): void {
    const origin = parseOriginName(pair.origin);
    const sink = faultOfSink(pair.sink);
    const faults = [
      ...(origin.ok ? [] : [{ pointer: 'query/origin', rule: origin.rule, detail: origin.detail }]),
      ...(sink ? [{ pointer: 'query/sink', rule: sink.rule, detail: sink.detail }] : []),
    ];
    if (faults.length > 0) throw brokenParameters(faults);
  }

  function answerWith(
    { body, tag }: Tagged,
    { headers: { 'if-none-match': ifNoneMatch } }: IncomingMessage,
  ): LaneAnswer {
    const headers = ['ETag', tag, ...ageHeader(age())];
    return ifNoneMatch !== undefined && namesTag(ifNoneMatch, tag)
      ? { status: 304, headers }
      : { status: 200, headers, body };
  }

  return {
    answerQuery(query, { tenant }, request) {
      if (!asked.readQuery(query)) return undefined;
      const known = loaded(replica());
      return answerWith(granted(known, tenant) ?? other(known, tenant, asked), request);
    },
    handle({ principal: { tenant }, query, request }) {
      const known = loaded(replica());
      const { origin, sink } = query as unknown as AskedPair;
      const pair = { origin: origin.toLowerCase(), sink };
      return answerWith((asked.set(pair) ? granted(known, tenant) : undefined) ?? other(known, tenant, pair), request);
    },
  };
}

/** `POST /v1/permissions`: the same for many pairs, an answer for each in order. */
export function createPermissionsLane({ replica, age }: PermissionLaneSettings, operation: Operation): LaneHandler {
  const plain = new PlainPairs();
  const found = new Int32Array(mostPairs);

  return ({ request, body, principal: { tenant } }: LaneCall): LaneAnswer => {
    const headers = ageHeader(age());
    if (isPlainJson(request.rawHeaders) && plain.read(body)) {
      return { status: 200, headers, body: writeAnswers(loaded(replica()), tenant, body, plain, found) };
    }
    const pairs = readJsonBody(operation, request.headers, body) as AskedPair[];
    const known = loaded(replica());
    const answers = pairs.map(({ origin, sink }) =>
      permissionText(known, tenant, { origin: origin.toLowerCase(), sink }),
    );
    return { status: 200, headers, body: `[${answers.join()}]` };
  };
}

function writeAnswers(known: Replica, tenant: string, asked: Buffer, plain: PlainPairs, found: Int32Array): Buffer {
  const { pairs } = known;
  const { count, originFrom, originTo, sinkFrom, sinkTo, origins } = plain;
  const originAt = (i: number) => asked.toString('latin1', originFrom[i], originTo[i]).toLowerCase();
  for (let i = 0; i < count; i += 1) {
    origins[i] = plain.sharesOrigin[i] ? origins[i - 1]! : known.numberOf(tenant, originAt(i));
  }
  pairs.findAll(plain, found);

  const time = known.now();
  const bytes = Buffer.allocUnsafe(asked.length + count * mostBesidesPair);
  const [view, askedView] = [viewOf(bytes), viewOf(asked)];
  let at = 0;
  for (let i = 0; i < count; i += 1) {
    bytes[at] = i === 0 ? opening : comma;
    at += 1;
    if (pairs.denial(found[i]!, time) === undefined) {
      at = copyBytes(askedView, originFrom[i]! - beforeOrigin.length, originTo[i]!, view, at, toLower);
      at = writeGranted(pairs, found[i]!, view, copyBytes(askedView, originTo[i]!, sinkTo[i]!, view, at));
    } else {
      const sink = asked.toString('latin1', sinkFrom[i], sinkTo[i]);
      at += bytes.write(permissionText(known, tenant, { origin: originAt(i), sink }), at, 'latin1');
    }
  }
  bytes[at] = closing;
  return bytes.subarray(0, at + 1);
}

function permissionText(known: Replica, tenant: string, { origin, sink }: AskedPair): string {
  return JSON.stringify(presentPermission(origin, sink, known.permission(tenant, origin, sink)));
}

function loaded(replica: Replica | undefined): Replica {
  if (replica === undefined) throw indexLoading();
  return replica;
}

function isPlainJson(rawHeaders: readonly string[]): boolean {
  let isJson = false;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 12 && name.toLowerCase() === 'content-type') isJson = rawHeaders[at + 1] === 'application/json';
    else if (name.length === 16 && name.toLowerCase() === 'content-encoding') return false;
  }
  return isJson;
}
