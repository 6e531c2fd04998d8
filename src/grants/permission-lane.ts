import type { Operation } from '../http/contract.js';
import { contentTag, namesTag } from '../http/entity-tag.js';
import { readJsonBody } from '../http/json-body.js';
import { ageHeader, type LaneAnswer, type LaneCall, type LaneHandler } from '../http/lane.js';
import { indexLoading, type Replica } from '../matching/replica.js';
import { permissionText, type Pair } from './permission.js';

export interface PermissionLaneSettings {
  /** What look-ups are answered from; undefined while it is being loaded. */
  replica: () => Replica | undefined;
  /** Seconds since the replica was known to be current, if that is not just now. */
  age: () => number | undefined;
}

/** A permission may be kept, but asked about again before each use, and never shared between callers. */
export const permissionHeaders = { 'Cache-Control': 'private, no-cache', Vary: 'Authorization' };

/** `GET /v1/permissions`: may this origin send to this sink? From memory; the database is not asked. */
export function createPermissionLane({ replica, age }: PermissionLaneSettings): LaneHandler {
  return ({ principal, query, request }) => {
    const { origin, sink } = query as unknown as Pair;
    const pair = { origin: origin.toLowerCase(), sink };
    const body = textOf(replica(), principal.tenant, pair, escaped(pair));
    const tag = contentTag(body);
    const headers = ['ETag', tag, ...ageHeader(age())];
    const known = request.headers['if-none-match'];
    return known !== undefined && namesTag(known, tag) ? { status: 304, headers } : { status: 200, headers, body };
  };
}

/** `POST /v1/permissions`: the same for many pairs, an answer for each in order. */
export function createPermissionsLane({ replica, age }: PermissionLaneSettings, operation: Operation): LaneHandler {
  return ({ principal, request, body }: LaneCall): LaneAnswer => {
    const known = replica();
    const plain = readPairs(body, request.rawHeaders);
    const pairs = plain ?? (readJsonBody(operation, request.headers, body) as Pair[]);
    let text = '[';
    for (let at = 0; at < pairs.length; at += 1) {
      const { origin, sink } = pairs[at] as Pair;
      const pair = { origin: origin.toLowerCase(), sink };
      if (at > 0) text += ',';
      text += textOf(known, principal.tenant, pair, plain === undefined ? escaped(pair) : pair);
    }
    return { status: 200, headers: ageHeader(age()), body: `${text}]` };
  };
}

function textOf(replica: Replica | undefined, tenant: string, pair: Pair, inJson: Pair): string {
  if (replica === undefined) throw indexLoading();
  return permissionText(pair, replica.permission(tenant, pair.origin, pair.sink), inJson);
}

function escaped({ origin, sink }: Pair): Pair {
  return { origin: JSON.stringify(origin).slice(1, -1), sink: JSON.stringify(sink).slice(1, -1) };
}

const plainQuery = /^origin=([A-Za-z0-9.-]{1,253})&sink=([^&+]{1,2048})$/;
/** What stands in a URI as it is sent: nothing that JSON escapes, and nothing outside of ASCII. */
const plainText = /^[!#-[\]-~]+$/;

/** The query as programs write it; undefined for any other. */
export function readPermissionQuery(query: string): Record<string, unknown> | undefined {
  const [, origin, sink] = plainQuery.exec(query) ?? [];
  if (sink === undefined) return undefined;
  try {
    const decoded = sink.includes('%') ? decodeURIComponent(sink) : sink;
    return plainText.test(decoded) ? { origin, sink: decoded } : undefined;
  } catch {
    return undefined;
  }
}

const plainPair = /\{"origin":"([A-Za-z0-9.-]{1,253})","sink":"([!#-[\]-~]{1,2048})"\}/y;
const [comma, opening, closing] = [',', '[', ']'].map((character) => character.charCodeAt(0));
const mostPairs = 1_000;

/**
 * Pairs as programs write them: without white space, origin first, no character that JSON escapes. Such a text keeps the
 * contract, and to read it so takes a tenth of the time. Undefined for any other, which goes the long way.
 */
function readPairs(body: Buffer, rawHeaders: readonly string[]): Pair[] | undefined {
  if (!isPlainJson(rawHeaders)) return undefined;
  const text = body.toString('latin1');
  const pairs: Pair[] = [];
  let at = 0;
  do {
    if (text.charCodeAt(at) !== (at === 0 ? opening : comma) || pairs.length === mostPairs) return undefined;
    plainPair.lastIndex = at + 1;
    const [, origin, sink] = plainPair.exec(text) ?? [];
    if (origin === undefined || sink === undefined) return undefined;
    pairs.push({ origin, sink });
    at = plainPair.lastIndex;
  } while (text.charCodeAt(at) !== closing);
  return at === text.length - 1 ? pairs : undefined;
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
