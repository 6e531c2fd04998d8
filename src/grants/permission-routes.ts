import type { Fault } from '../errors.js';
import { brokenParameters } from '../http/contract.js';
import { contentTag, namesTag } from '../http/entity-tag.js';
import { ageHeader, type Handlers } from '../http/handler.js';
import { copyBytes, viewOf } from '../matching/pairs/write-bytes.js';
import { indexLoading, type Replica } from '../matching/replica.js';
import { parseOriginName } from '../origins/origin-name.js';
import { presentPermission, type AskedPair } from './permission.js';
import { PlainPair } from './plain-pair.js';
import { beforeOrigin, mostPairs, PlainPairs } from './read-pairs.js';
import { mostBesidesPair, tagOfGranted, writeGranted } from './write-permission.js';

/** Of all that stands up to the end of an origin, letters in upper case are what this bit changes. */
const toLower = 0x20;
const [comma, opening, closing] = Buffer.from(',[]') as unknown as [number, number, number];

export interface PermissionRoutes {
  /** What look-ups are answered from; undefined while it is being loaded. */
  replica: () => Replica | undefined;
  /** Seconds since the replica was known to be current, if that is not just now. */
  age: () => number | undefined;
  /** Undefined for a text that may be the sink of a grant, else the fault. */
  faultOfSink: (sink: string) => Omit<Fault, 'pointer'> | undefined;
}

interface Tagged {
  body: string;
  tag: string;
}

/** A permission may be kept, but asked about again before each use, and never shared between callers. */
export const permissionHeaders = { 'Cache-Control': 'private, no-cache', Vary: 'Authorization' };

/** May this origin send to this sink? Of one pair, and of many. From memory; the database is not asked. */
export function createPermissionHandlers({
  replica,
  age,
  faultOfSink,
}: PermissionRoutes): Handlers<'getPermission' | 'getPermissions'> {
  const asked = new PlainPair();
  const plain = new PlainPairs();
  const found = new Int32Array(mostPairs);

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

  return {
    getPermission: (call) => {
      const { tenant } = call.principal;
      // A query as programs write it keeps the contract, and is read faster than by it.
      const isPlain = asked.readQuery(call.queryText);
      const pair = isPlain ? asked : pairOf(call.query);
      const known = loaded(replica());
      const isWritable = isPlain || asked.set(pair);
      const { body, tag } = (isWritable ? granted(known, tenant) : undefined) ?? other(known, tenant, pair);
      const headers = { ETag: tag, ...ageHeader(age()) };
      const ifNoneMatch = call.header['if-none-match'];
      return ifNoneMatch !== undefined && namesTag(ifNoneMatch, tag)
        ? { status: 304, headers, body: undefined }
        : { status: 200, headers, json: body };
    },

    getPermissions: (call) => {
      const { tenant } = call.principal;
      const headers = ageHeader(age());
      if (isPlainJson(call.rawHeaders) && plain.read(call.bytes)) {
        return { status: 200, headers, json: writeAnswers(loaded(replica()), tenant, call.bytes, plain, found) };
      }
      const pairs = call.body.map(pairOf);
      const known = loaded(replica());
      return { status: 200, headers, json: `[${pairs.map((pair) => permissionText(known, tenant, pair)).join()}]` };
    },
  };
}

function pairOf({ origin, sink }: AskedPair): AskedPair {
  return { origin: origin.toLowerCase(), sink };
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
  }
  return isJson;
}
