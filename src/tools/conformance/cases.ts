import { UsageError } from '../../base/errors.js';
import type { Case, CaseLevel, Side } from './case.js';

/** What a receiver guarantees. Sections are those of "HTTP 1.1 Web Hooks for Event Delivery". */
export const receiverCases = [
  { id: 'R01', level: 'must', section: '4.2.1', title: 'An allowed origin gets itself or * in WebHook-Allowed-Origin' },
  { id: 'R02', level: 'must', section: '4.2.2', title: 'A request with a rate gets a WebHook-Allowed-Rate' },
  { id: 'R03', level: 'must', section: '4.2.2', title: 'The allowed rate is * or one positive integer' },
  { id: 'R04', level: 'should', section: '4.2.2', title: 'A request without a rate gets a WebHook-Allowed-Rate too' },
  { id: 'R05', level: 'should', section: '4.2', title: 'Allow names POST' },
  {
    id: 'R06',
    level: 'must',
    section: '4.2.1',
    title: 'WebHook-Allowed-Origin is one line with one value, and WebHook-Request-Origin is not echoed',
  },
  { id: 'R07', level: 'must', section: '4.2', title: 'An origin that is not allowed gets no consent' },
  { id: 'R08', level: 'must', section: '4.2.1', title: 'An origin that begins with an allowed one gets no consent' },
  { id: 'R09', level: 'must', section: '4.2.1', title: 'An origin that ends with an allowed one gets no consent' },
  { id: 'R10', level: 'must', section: '4.1', title: 'A CORS preflight gets no WebHook header that grants' },
  { id: 'R11', level: 'info', section: '4.1', title: 'CORS and the handshake work beside each other' },
  { id: 'R12', level: 'should', section: '4.2', title: 'A receiver without the handshake returns 405' },
  { id: 'R13', level: 'must', section: '2.2', title: 'Neither OPTIONS nor POST is redirected' },
  { id: 'R14', level: 'must', section: '4.1', title: 'The consent is for the resource that was asked' },
  {
    id: 'R15',
    level: 'must',
    section: 'RFC 9110, 5.1',
    title: 'The case of header names and the framing of the body change nothing',
  },
  {
    id: 'R16',
    level: 'should',
    section: '4.2',
    title: 'Ten handshakes at once get equal responses, each within ten seconds',
  },
  {
    id: 'R17',
    level: 'must',
    section: '4.1.3',
    title: 'A request with a callback gets the headers now, or the callback is called',
  },
  { id: 'R18', level: 'should', section: '4.2.2', title: 'A call of the callback carries a rate' },
  { id: 'R19', level: 'must', section: '4.1.3', title: 'The callback is called at exactly the given URL' },
  { id: 'R20', level: 'must', section: '4.2', title: 'No callback is called for an origin that is not allowed' },
  {
    id: 'R21',
    level: 'should',
    section: '4.1.3',
    title: 'A slow callback host does not delay the response to OPTIONS',
  },
  {
    id: 'R22',
    level: 'must',
    section: '2.2',
    title: 'An event gets 200 or 201 with a type, 201 or 204 without a body, or 202',
  },
  { id: 'R23', level: 'must', section: '2.2', title: 'An event in an unknown media type gets 415' },
  { id: 'R24', level: 'must', section: '2.2', title: 'Requests above the allowed rate get 429 with Retry-After' },
  { id: 'R25', level: 'must', section: '3', title: 'An access token is accepted in the header and in the query' },
  {
    id: 'R26',
    level: 'must',
    section: '4.2.1',
    title: 'An origin with another character in the place of a dot gets no consent',
  },
  { id: 'R27', level: 'must', section: '4.2', title: 'An origin that is not allowed gets no consent, however it asks' },
  {
    id: 'R28',
    level: 'must',
    section: 'RFC 9110, 8.3.1',
    title: 'The case of a media type, and how its parameters are written, change nothing',
  },
  { id: 'R29', level: 'should', section: 'HTTP binding, 3', title: 'An event is accepted in binary mode, too' },
  { id: 'R30', level: 'info', section: 'HTTP binding, 3.3', title: 'Events are accepted in a batch, too' },
  { id: 'R31', level: 'info', section: '4.2.2', title: 'The allowed rate is not above the requested one' },
  { id: 'R32', level: 'should', section: '4.2', title: 'The same request gets the same response' },
  { id: 'R33', level: 'info', section: '4.1.2', title: 'An event from an origin without consent is refused' },
  { id: 'R34', level: 'should', section: 'RFC 9421', title: 'A signed event is accepted' },
  { id: 'R35', level: 'should', section: 'RFC 9530', title: 'A signed event with another body is refused' },
  { id: 'R36', level: 'should', section: 'RFC 9421', title: 'An event with an old signature is refused' },
  { id: 'R37', level: 'should', section: 'RFC 9421', title: 'A copy of a signed event is refused' },
  { id: 'R38', level: 'should', section: 'RFC 9421', title: 'An event that a foreign key signed is refused' },
  { id: 'R39', level: 'should', section: 'RFC 9421', title: 'Each key that the origin publishes is accepted' },
  { id: 'R40', level: 'should', section: 'RFC 9421', title: 'An event that a revoked key signed is refused' },
  {
    id: 'R41',
    level: 'should',
    section: 'CloudEvents, Notational Conventions',
    title: 'An event with an unknown extension attribute is accepted',
  },
  { id: 'R42', level: 'should', section: 'CloudEvents, time', title: 'An event without a time is accepted' },
  {
    id: 'R43',
    level: 'must',
    section: 'CloudEvents, Type System',
    title: 'Text beyond ASCII is accepted, in attributes and in data',
  },
  {
    id: 'R44',
    level: 'must',
    section: 'HTTP binding, 3.1.3.2',
    title: 'Percent-encoded text is accepted in headers of binary mode',
  },
  { id: 'R45', level: 'must', section: 'JSON format, 3.1.2', title: 'An event with data_base64 is accepted' },
  { id: 'R46', level: 'should', section: 'CloudEvents, Event Data', title: 'An event without data is accepted' },
  { id: 'R47', level: 'should', section: 'CloudEvents, Size Limits', title: 'An event of 64 KiB is accepted' },
  {
    id: 'R48',
    level: 'should',
    section: 'CloudEvents, id',
    title: 'An event that is delivered again is accepted again',
  },
] as const satisfies readonly Case[];

/** What a sender guarantees. */
export const senderCases = [
  { id: 'S01', level: 'must', section: '4.1', title: 'OPTIONS goes to the exact URI, with its query' },
  {
    id: 'S02',
    level: 'must',
    section: '4.1.2',
    title: 'WebHook-Request-Origin is one DNS name without scheme and port',
  },
  { id: 'S03', level: 'must', section: '4.1.4', title: 'WebHook-Request-Rate, if sent, is a positive integer' },
  { id: 'S04', level: 'must', section: '4.2', title: 'A response without WebHook headers gets no events' },
  { id: 'S05', level: 'must', section: '4.2.1', title: 'A consent for another origin gets no events' },
  { id: 'S06', level: 'must', section: '4.2', title: 'The headers decide, whether the status is 204, 400, 404 or 405' },
  { id: 'S07', level: 'must', section: '4.2', title: 'A consent for every origin at any rate gets events' },
  { id: 'S08', level: 'must', section: '4.2.2', title: 'All instances together keep the allowed rate' },
  {
    id: 'S09',
    level: 'must',
    section: '4.1.3',
    title: 'A callback by GET is consent to the requested rate at most, and nothing is sent before it',
  },
  { id: 'S10', level: 'must', section: '4.1.3', title: 'A callback by POST sets the rate; GET and POST both get 2xx' },
  { id: 'S11', level: 'must', section: '4.1.3', title: 'A callback before the response to OPTIONS is valid' },
  { id: 'S12', level: 'must', section: '2.2', title: 'A redirect is never followed' },
  { id: 'S13', level: 'should', section: '2.2', title: 'After 410 nothing more is sent' },
  {
    id: 'S14',
    level: 'must',
    section: '2.2',
    title: 'After 429 nothing is sent before Retry-After, as seconds and as a date',
  },
  {
    id: 'S15',
    level: 'must',
    section: '2.1, 4.1.2',
    title: 'Deliveries are POST over https with a content type and the same origin, and no token in the query',
  },
  {
    id: 'S16',
    level: 'should',
    section: 'RFC 9421',
    title: 'Handshakes are signed, with target, origin, callback and rate under the signature',
  },
  {
    id: 'S17',
    level: 'should',
    section: 'RFC 9421, 9530',
    title: 'Deliveries are signed, with the digest of their body under the signature',
  },
] as const satisfies readonly Case[];

export type ReceiverCaseId = (typeof receiverCases)[number]['id'];
export type SenderCaseId = (typeof senderCases)[number]['id'];

/** The lowest level to run, each with the levels above it. */
export const lowestLevels = ['must', 'should', 'info'] as const satisfies readonly CaseLevel[];

export const casesOf: Record<Side, readonly Case[]> = { receiver: receiverCases, sender: senderCases };

/** Without ids, every case of the level and above. Throws a UsageError for ids that are not cases of this side. */
export function selectCases(side: Side, ids: readonly string[], lowest: CaseLevel): Case[] {
  checkIds(side, ids);
  const levels = lowestLevels.slice(0, lowestLevels.indexOf(lowest) + 1);
  return casesOf[side].filter(({ id, level }) => (ids.length === 0 ? levels.includes(level) : ids.includes(id)));
}

export function checkIds(side: Side, ids: readonly string[]): void {
  const unknown = ids.find((id) => !casesOf[side].some((each) => each.id === id));
  if (unknown === undefined) return;
  throw new UsageError(`${unknown} is not a case of a ${side}. List them with "assent conformance list".`);
}
