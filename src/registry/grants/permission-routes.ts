import type { Context } from '../context.js';
import { brokenParameters } from '../../base/contract/contract.js';
import { contentTag, namesTag } from '../http/entity-tag.js';
import { ageHeader, type Handlers } from '../http/handler.js';
import { isPlainJson } from '../http/body.js';
import { copyBytes, viewOf } from '../../matching/replica/write-bytes.js';
import { indexLoading, type Replica } from '../../matching/replica/replica.js';
import { parseOriginName } from '../../consent/origin.js';
import { presentPermission, type AskedPair } from '../../consent/decision.js';
import { faultOfSinkText } from '../../outbound/sink.js';
import {
  PlainPair,
  beforeOrigin,
  maxPairs,
  PlainPairs,
  maxBesidesPair,
  tagOfGranted,
  writeGranted,
} from './permission-bytes.js';

/** Up to the end of an origin, this bit changes only letters in upper case. */
const toLower = 0x20;
const [comma, opening, closing] = Buffer.from(',[]') as unknown as [number, number, number];

interface Tagged {
  body: string;
  tag: string;
}

/** May this origin send to this sink? For one pair or many, from memory, without a database query. */
export function permissionRoutes({ follower, freshness }: Context): Handlers<'getPermission' | 'checkPermissions'> {
  const asked = new PlainPair();
  const plain = new PlainPairs();
  const found = new Int32Array(maxPairs);

  /** The response for a permitted pair, and its tag; undefined for any other pair, which takes the slow path. */
  function granted(known: Replica, tenant: string): Tagged | undefined {
    const { bytes, view, origin, sinkFrom, sinkTo, sinkHash } = asked;
    const { pairs } = known;
    const pair = pairs.find(known.numberOf(tenant, origin), bytes, sinkFrom, sinkTo, sinkHash);
    if (pairs.denial(pair, known.now()) !== undefined) return undefined;
    const body = bytes.toString('latin1', 0, writeGranted(pairs, pair, view, sinkTo));
    return { body, tag: tagOfGranted(pairs, pair, body) };
  }

  function other(known: Replica, tenant: string, pair: AskedPair): Tagged {
    const permission = known.permission(tenant, pair.origin, pair.sink);
    // Checked only if there is no grant, so that pairs with a grant do not pay for it.
    if (permission.grant === undefined) checkPair(pair);
    const body = JSON.stringify(presentPermission(pair.origin, pair.sink, permission));
    return { body, tag: contentTag(body) };
  }

  return {
    getPermission: (call) => {
      const { tenant } = call.principal;
      // Fast path: a query as programs write it always fits the contract.
      const isPlain = asked.readQuery(call.queryText);
      const pair = isPlain ? asked : pairOf(call.query);
      const known = loaded(follower.replica());
      const isWritable = isPlain || asked.set(pair);
      const { body, tag } = (isWritable ? granted(known, tenant) : undefined) ?? other(known, tenant, pair);
      const headers = { ETag: tag, ...ageHeader(freshness.age()) };
      const ifNoneMatch = call.header['if-none-match'];
      return ifNoneMatch !== undefined && namesTag(ifNoneMatch, tag)
        ? { status: 304, headers, body: undefined }
        : { status: 200, headers, json: body };
    },

    checkPermissions: (call) => {
      const { tenant } = call.principal;
      const headers = ageHeader(freshness.age());
      if (isPlainJson(call.rawHeaders) && plain.read(call.bytes)) {
        return {
          status: 200,
          headers,
          json: writeAnswers(loaded(follower.replica()), tenant, call.bytes, plain, found),
        };
      }
      const pairs = call.body.map(pairOf);
      const known = loaded(follower.replica());
      return { status: 200, headers, json: `[${pairs.map((pair) => permissionText(known, tenant, pair)).join()}]` };
    },
  };
}

/** Throws `invalid_request` for a pair that cannot exist. */
export function checkPair(pair: AskedPair): void {
  const origin = parseOriginName(pair.origin);
  const sink = faultOfSinkText(pair.sink);
  const faults = [
    ...(origin.ok ? [] : [{ pointer: 'query/origin', rule: origin.rule, detail: origin.detail }]),
    ...(sink ? [{ pointer: 'query/sink', rule: sink.rule, detail: sink.detail }] : []),
  ];
  if (faults.length > 0) throw brokenParameters(faults);
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
  const bytes = Buffer.allocUnsafe(asked.length + count * maxBesidesPair);
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
