import { decode, withoutCoding } from '../base/content-coding.js';
import type { Admit } from './connect.js';
import type { SafeRequest } from './safe-request.js';

/** `code` says why there is no document; `status` is that of a response that is not 200. */
export type DocumentResult =
  | { ok: true; headers: ReadonlyArray<readonly [string, string]>; body: Buffer }
  | { ok: false; code: string; status?: number };

/**
 * Reads what a tenant keeps at an https URL, such as its public keys. The guard is that of handshakes (safe-request.ts): no
 * address that is not public, no redirect, one deadline, the budget of the network. Every failure is a value:
 *
 *   sink_not_allowed, address_not_allowed   the URL is not https, or leads into a network that is not public
 *   held_by_budget     too many requests to this network; later
 *   status_not_200     another response
 *   body_unusable      more than 64 KiB, also once it is unpacked, or cut off
 *   content_encoding_… compressed in a way that is not known here
 *   …                  no response: the codes of failure.ts
 */
export type ReadDocument = (url: string, accept: string, signal?: AbortSignal) => Promise<DocumentResult>;

const maxReadBytes = 65_536;

export function createReadDocument(request: SafeRequest, admit: Admit): ReadDocument {
  return async (url, accept, signal) => {
    const headers = { Accept: accept, ...withoutCoding };
    const reply = await request({ url, method: 'GET', headers, maxReadBytes, admit, ...(signal && { signal }) });
    if (reply.kind === 'held') return { ok: false, code: 'held_by_budget' };
    if (reply.kind !== 'answered') return { ok: false, code: reply.code };
    if (reply.status !== 200) return { ok: false, code: 'status_not_200', status: reply.status };
    if (reply.body === undefined) return { ok: false, code: 'body_unusable' };
    const codings = reply.headers.filter(([name]) => name.toLowerCase() === 'content-encoding');
    const decoded = await decode(reply.body, codings.map(([, value]) => value).join(','), maxReadBytes);
    return decoded.ok ? { ok: true, headers: reply.headers, body: decoded.body } : { ok: false, code: decoded.code };
  };
}
