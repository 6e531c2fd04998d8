import { createHash } from 'node:crypto';

/** What differs from run to run, each with the group that is the value itself. */
const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const isoTime = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const httpDate = /[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} GMT/g;
const secret = /((?:"(?:cursor|keyid)" ?: ?"|[?&]cursor=|^id: ?|key=))([\w-]{20,})/gm;
/** `assent check` takes a free port. */
const callbackPort = /(?<=http:\/\/127\.0\.0\.1:)\d{5}(?=\/v1\/callbacks\/)/g;
const token = /eyJ[\w-]+\.[\w-]+\.[\w-]+/g;
const measured = /("(?:\w+ms|secondsleft|revision)" ?: ?"?|^Age: )\d+/gim;

/** When every page is read as if it had been run: a date that a reader takes for an example. */
const shownStart = Date.parse('2026-12-01T09:00:00Z');

export interface StableTexts {
  /** The text as a page shows it. The same id is the same one in all texts of the page. */
  show(text: string): string;
}

/**
 * Turns outputs of one run into what any other run of the page would show: ids are numbered as they appear, times count
 * from a fixed start. Times that the page itself writes stay.
 */
export function createStableTexts(startedAt: number, commands: string): StableTexts {
  const numbers = new Map<string, number>();
  const numberOf = (value: string) => {
    const number = numbers.get(value) ?? numbers.size + 1;
    numbers.set(value, number);
    return number;
  };
  const written = new Set((commands.match(isoTime) ?? []).map((time) => Date.parse(time)));
  const shifted = (time: string) => new Date(Date.parse(time) - startedAt + shownStart);
  return {
    show: (text) =>
      text
        .replace(uuid, (id) => `01a22fe1-8a40-7c5b-9d3e-${numberOf(id).toString(16).padStart(12, '0')}`)
        .replace(isoTime, (time) => (written.has(Date.parse(time)) ? time : shifted(time).toISOString()))
        .replace(httpDate, (time) => (written.has(Date.parse(time)) ? time : shifted(time).toUTCString()))
        .replace(secret, (_, before: string, value: string) => {
          const digest = createHash('sha512')
            .update(String(numberOf(value)))
            .digest('base64url');
          return before + digest.slice(0, value.length);
        })
        .replace(callbackPort, '40000')
        .replace(token, 'eyJhbGciOiJFUzI1NiJ9.eyJzY29wZSI6IiJ9.c2ln'),
  };
}

/** The text without what differs from run to run. */
export function withoutVarying(text: string): string {
  return withoutTimes(text).replace(callbackPort, '40000').replace(uuid, '<id>').replace(secret, '$1<secret>');
}

/** The same, with ids as they are. */
export function withoutTimes(text: string): string {
  return text
    .replace(isoTime, '<time>')
    .replace(httpDate, '<time>')
    .replace(token, '<token>')
    .replace(measured, (_, before: string) => `${before}0`);
}
