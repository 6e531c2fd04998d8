import type { ReceiverCaseId } from '../../../../src/tools/conformance/cases.js';
import { allowed, correct, isSigned, revoked, signers, token, type Event, type Parts } from './small-receiver.js';

interface Broken {
  /** The fault, as a sentence. */
  fault: string;
  parts: Parts;
  /** No origin is named: the receiver allows none. */
  isUnnamed?: true;
  isBurst?: true;
  /** It never calls: nothing is gained by waiting for it. */
  isSilent?: true;
}

const now = (fault: string, part: Partial<Parts>): Broken => ({ fault, parts: { ...correct, ...part } });
const either = (fault: string, part: Partial<Parts>): Broken => now(fault, { way: 'either', ...part });

/** Requests of the allowed origin, in the order in which they arrive. */
function everySecond(): Partial<Parts> {
  let count = 0;
  return { allows: (origin) => origin === allowed && (count += 1) % 2 === 1 };
}

const known = 'specversion id source type subject time datacontenttype data data_base64'.split(' ');
const each = (isTaken: (event: Event) => boolean): Partial<Parts> => ({ takes: (events) => events.every(isTaken) });

function eachOnce(): Partial<Parts> {
  const ids = new Set<unknown>();
  return each(({ id }) => !ids.has(id) && ids.add(id).size > 0);
}

/** One for each case. Each differs in one thing from a correct receiver. */
export const brokenReceivers: Record<ReceiverCaseId, Broken> = {
  R01: {
    ...now('puts a scheme before the origin', {
      allowedOrigin: (origin) => ({ 'WebHook-Allowed-Origin': `https://${origin}` }),
    }),
    isSilent: true,
  },
  R02: now('returns no rate when one is requested', {
    rate: ({ headers }) => (headers['webhook-request-rate'] === undefined ? '40' : undefined),
  }),
  R03: now('returns a rate with a unit', { rate: () => '40/minute' }),
  R04: now('returns a rate only if one is requested', {
    rate: ({ headers }) => (headers['webhook-request-rate'] === undefined ? undefined : '40'),
  }),
  R05: now('returns no Allow', { allow: {} }),
  R06: now('returns all origins that it allows', {
    allowedOrigin: (origin) => ({ 'WebHook-Allowed-Origin': `${origin}, another.example` }),
  }),
  R07: now('consents to every origin', { allows: () => true }),
  R08: now('compares the beginning of the origin', { allows: (origin) => origin.startsWith(allowed) }),
  R09: now('compares the end of the origin', { allows: (origin) => origin.endsWith(allowed) }),
  R10: now('consents without being asked', {
    preflight: (asked) => {
      const reply = correct.preflight(asked);
      return reply && { ...reply, headers: { ...reply.headers, 'WebHook-Allowed-Origin': '*' } };
    },
  }),
  R11: now('lets a CORS layer answer every preflight', {
    preflight: (asked) =>
      correct.preflight({ ...asked, headers: asked.headers['access-control-request-method'] ? {} : asked.headers }),
  }),
  R12: {
    ...now('returns 200 without the handshake', { way: 'never', withoutHandshake: { status: 200 } }),
    isUnnamed: true,
    isSilent: true,
  },
  R13: now('redirects events', { delivery: () => ({ status: 307, headers: { Location: '/other' } }) }),
  R14: now('consents at every path of the host', { isHere: () => true }),
  R15: now('ignores requests with a chunked body', {
    allowedOrigin: (origin, { headers }) =>
      headers['transfer-encoding'] === undefined ? correct.allowedOrigin(origin, {} as never) : {},
  }),
  R16: now('returns another rate to requests that overlap', {
    // Requests that are sent at once overlap; those that are sent one after the other don't.
    pauseTurns: 200,
    rate: ({ atOnce }) => (atOnce > 1 ? '1' : '40'),
  }),
  R17: {
    ...either('forgets the callback', { decideLater: async (_callback, _call, respond) => respond() }),
    isSilent: true,
  },
  R18: either('calls without a rate', {
    decideLater: async (callback, call, respond) => {
      respond();
      await call(callback, {}, 'GET');
    },
  }),
  R19: either('decodes the callback', {
    decideLater: (callback, call, respond) => correct.decideLater(callback.replace('%2F', '/'), call, respond),
  }),
  R20: either('calls back for origins that it denies', { whenDenied: (callback, call) => call(callback) }),
  R21: either('waits for the callback host before it answers', {
    decideLater: async (callback, call, respond) => {
      await correct.decideLater(callback, call, () => undefined);
      respond();
    },
  }),
  R22: now('returns 200 without a body', { accepted: { status: 200 } }),
  R23: now('takes every media type', { unknownType: { status: 202 } }),
  R24: { ...now('refuses without Retry-After', { aboveRate: { status: 429 } }), isBurst: true },
  R25: now('takes no token from the query', {
    isAuthorized: ({ headers }) => headers.authorization === `Bearer ${token}`,
  }),
  R26: now('has a pattern whose dots are not escaped', { allows: (origin) => new RegExp(`^${allowed}$`).test(origin) }),
  R27: now('consents to every origin if the URL has a query', {
    allows: (origin, { query }) => origin === allowed || query.size > 0,
  }),
  R28: now('compares media types with their case', {
    reads: (type, asked) => correct.reads(type, asked) && type === type.toLowerCase(),
  }),
  R29: now('takes no events in binary mode', {
    reads: (type, asked) => correct.reads(type, asked) && /^application\/cloudevents/i.test(type),
  }),
  R30: now('takes no batches', {
    reads: (type, asked) => correct.reads(type, asked) && !type.includes('batch'),
  }),
  R31: now('allows ten times the requested rate', {
    rate: ({ headers }) => `${headers['webhook-request-rate'] ?? '4'}0`,
  }),
  R32: { ...now('consents to every second request', everySecond()), isSilent: true },
  R33: now('takes events of every origin', { maySend: () => true }),
  R34: now('knows no key of the origin', { isSigned: (signed) => isSigned(signed, { keys: [] }) }),
  R35: now('ignores Content-Digest', { isSigned: (signed) => isSigned(signed, { checksBody: false }) }),
  R36: now('ignores the age of a signature', {
    isSigned: (signed) =>
      isSigned(signed, { now: Number(/;created=(\d+)/.exec(signed.fieldOf('signature-input') ?? '')?.[1]) }),
  }),
  R37: now('remembers no signature', { isSigned: (signed) => isSigned(signed, { remembers: false }) }),
  R38: now('takes every key but one that it knows as revoked', {
    isSigned: (signed) =>
      isSigned(signed, {
        anyKey: !(signed.fieldOf('signature-input') ?? '').includes(revoked.public.kid),
      }),
  }),
  R39: now('knows the first key alone', { isSigned: (signed) => isSigned(signed, { keys: signers.slice(0, 1) }) }),
  R40: now('keeps a revoked key', { isSigned: (signed) => isSigned(signed, { keys: [...signers, revoked] }) }),
  R41: now(
    'refuses attributes that it does not know',
    each((event) => Object.keys(event).every((name) => known.includes(name))),
  ),
  R42: now(
    'requires a time',
    each(({ time }) => time !== undefined),
  ),
  R43: now('reads bodies as ASCII', { takes: (_, body) => body.every((byte) => byte < 0x80) }),
  R44: now(
    'takes a percent sign in a header for a fault',
    each(({ subject }) => !String(subject).includes('%')),
  ),
  R45: now(
    'has no data_base64',
    each((event) => !('data_base64' in event)),
  ),
  R46: now(
    'requires data',
    each((event) => 'data' in event || 'data_base64' in event),
  ),
  R47: now('takes bodies of 32 KiB', { takes: (_, body) => body.length <= 32_768 }),
  R48: now('refuses an id that it knows', eachOnce()),
};
