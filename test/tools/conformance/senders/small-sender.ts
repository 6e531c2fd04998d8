import { randomUUID } from 'node:crypto';
import { createServer, request as plainRequest, type IncomingHttpHeaders } from 'node:http';
import { Agent, request as tlsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Assignment } from '../../../../src/tools/conformance/sender/run-sender.js';
import type { RequestToSign } from '../../../../src/signatures/request-signature.js';
import { createSigner, type Signer } from '../../../support/signer.js';

/** What a sender gets wrong. Each breaks exactly the case that it is named for. */
export type Fault =
  | 'S01 the query is missing in OPTIONS'
  | 'S02 the origin has a scheme'
  | 'S03 the rate has a unit'
  | 'S04 Allow is taken for consent'
  | 'S05 the origin is compared as a part'
  | 'S06 only 200 is taken for an answer'
  | 'S07 a * is not understood'
  | 'S08 each instance counts for itself'
  | 'S09 events are sent while it waits'
  | 'S09 GET is taken for no limit'
  | 'S10 the rate of a callback is ignored'
  | 'S10 a second call of the callback is unknown'
  | 'S11 a callback before the response is lost'
  | 'S12 OPTIONS follows redirects'
  | 'S12 POST follows redirects'
  | 'S13 a 410 changes nothing'
  | 'S14 Retry-After is ignored'
  | 'S14 Retry-After is read as a number only'
  | 'S15 events have no Content-Type'
  | 'S15 events name another origin'
  | 'S15 events have the token in the query'
  | 'S15 events are sent by PUT'
  | 'S15 events are sent over http'
  | 'S16 handshakes are not signed'
  | 'S16 the rate is not under the signature'
  | 'S16 a foreign key signs handshakes'
  | 'S16 a handshake signs another target'
  | 'S17 events are not signed'
  | 'S17 the signature is that of another body'
  | 'S17 the digest is not under the signature';

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
}

/** Requests per minute, shared by all instances: how many of it are used. Here, a sender lives for less than a minute. */
interface Consent {
  rate: number;
}

export interface SmallSender {
  /** Asks for consent, and sends the events that the consent allows. Gives up the others. */
  work(assignment: Assignment): Promise<void>;
  stop(): void;
}

const requestedRate = 20;
const origin = 'sender.example.com';

/**
 * A whole sender: the handshake with its callback, the rate, and what responses ask for. With `isGoneAtEnd` it is like a
 * command on a slow machine: it answers the first call of a callback after all its work there, and is gone then.
 */
export async function startSmallSender(
  ca: string,
  signer: Signer,
  faults: readonly Fault[] = [],
  { isGoneAtEnd = false } = {},
): Promise<SmallSender> {
  const is = (name: Fault) => faults.includes(name);
  const agent = new Agent({ keepAlive: true, ca });
  const plain = is('S15 events are sent over http');
  const pending = new Map<string, (consent: Consent) => void>();
  const isAnswered = new Set<string>();
  const known = new Set<string>();
  const ends = new Map<string, Promise<void>>();
  const used = new Map<string, number>();
  const token = is('S15 events have the token in the query') ? 'access_token=a-token' : undefined;
  const named = is('S02 the origin has a scheme') ? `https://${origin}` : origin;

  const foreign = await createSigner();

  const callbacks = createServer((request, response) => {
    const key = request.url?.slice(1) ?? '';
    const settle = pending.get(key);
    if (is('S11 a callback before the response is lost') && settle && !isAnswered.has(key)) {
      // It never sends anything there.
      settle({ rate: 0 });
      pending.delete(key);
      return void response.writeHead(404).end();
    }
    if (!known.has(key) || (is('S10 a second call of the callback is unknown') && !settle)) {
      return void response.writeHead(404).end();
    }
    const rate = Number(request.headers['webhook-allowed-rate'] ?? requestedRate);
    const ignored = is('S10 the rate of a callback is ignored') ? requestedRate : rate;
    settle?.({ rate: is('S09 GET is taken for no limit') && request.method === 'GET' ? Infinity : ignored });
    pending.delete(key);
    const answer = () => void response.writeHead(204).end();
    if (isGoneAtEnd && settle) void ends.get(key)?.then(answer);
    else answer();
  });
  await new Promise<void>((resolve) => callbacks.listen(0, '127.0.0.1', resolve));
  const { port } = callbacks.address() as AddressInfo;

  function send(method: string, url: string, headers: Record<string, string>, body = ''): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const isPlain = url.startsWith('http:');
      const request = isPlain ? plainRequest(url, { method, headers }) : tlsRequest(url, { method, headers, agent });
      request.once('response', (response) => {
        response.resume().once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }));
      });
      request.once('error', reject).end(body);
    });
  }

  async function sendFollowing(doFollow: boolean, ...call: Parameters<typeof send>): Promise<Answer> {
    const answer = await send(...call);
    const to = answer.headers.location;
    return doFollow && to ? send(call[0], new URL(to, call[1]).href, call[2], call[3]) : answer;
  }

  function consentOf({ status, headers }: Answer): Consent | undefined {
    const isSilent = headers['webhook-allowed-origin'] === undefined;
    if (is('S04 Allow is taken for consent') && isSilent && headers.allow?.includes('POST')) return { rate: 1 };
    if (status >= 300 && status < 400) return undefined;
    if (is('S06 only 200 is taken for an answer') && status !== 200) return undefined;
    const allowed = String(headers['webhook-allowed-origin'] ?? '');
    const rate = String(headers['webhook-allowed-rate'] ?? '');
    if (allowed === '*' && is('S07 a * is not understood')) return undefined;
    const isPart = is('S05 the origin is compared as a part') && allowed.includes(named);
    if (allowed !== '*' && allowed !== named && !isPart) return undefined;
    return rate === '*' ? { rate: Infinity } : /^[1-9]\d*$/.test(rate) ? { rate: Number(rate) } : undefined;
  }

  async function ask(
    url: string,
    key: string,
    deliver: (consent: Consent) => Promise<void>,
  ): Promise<Consent | undefined> {
    known.add(key);
    const called = new Promise<Consent>((resolve) => pending.set(key, resolve));
    const at = is('S01 the query is missing in OPTIONS') ? (url.split('?')[0] ?? '') : url;
    const headers = {
      'WebHook-Request-Origin': named,
      'WebHook-Request-Rate': is('S03 the rate has a unit') ? `${requestedRate}/min` : String(requestedRate),
      'WebHook-Request-Callback': `http://127.0.0.1:${port}/${key}`,
    };
    const fields = await signHandshake(at, headers);
    const answer = await sendFollowing(is('S12 OPTIONS follows redirects'), 'OPTIONS', at, { ...fields, ...headers });
    isAnswered.add(key);
    const consent = consentOf(answer);
    if (consent) return consent;
    if (answer.headers['webhook-allowed-origin'] || answer.status === 307) return undefined;
    if (is('S09 events are sent while it waits') && !answer.headers.allow) await deliver({ rate: requestedRate });
    return called;
  }

  async function signHandshake(url: string, headers: Record<string, string>): Promise<Record<string, string>> {
    if (is('S16 handshakes are not signed')) return {};
    const { 'WebHook-Request-Rate': _, ...withoutRate } = headers;
    return (is('S16 a foreign key signs handshakes') ? foreign : signer).sign(
      {
        method: 'OPTIONS',
        url: is('S16 a handshake signs another target') ? `${url}&more` : url,
        headers: is('S16 the rate is not under the signature') ? withoutRate : headers,
      },
      // A key that only claims to be that of the sender.
      { keyid: signer.public.kid },
    );
  }

  async function signDelivery(request: RequestToSign & { body: Buffer }): Promise<Record<string, string>> {
    if (is('S17 events are not signed')) return request.headers;
    if (is('S17 the digest is not under the signature')) return signer.sign({ ...request, body: undefined });
    const body = is('S17 the signature is that of another body') ? Buffer.from('{}') : request.body;
    return signer.sign({ ...request, body });
  }

  async function deliver({ url, events, instance }: Assignment, { rate }: Consent): Promise<void> {
    const counter = is('S08 each instance counts for itself') ? `${url} ${instance}` : url;
    for (let index = 0; index < events; index += 1) {
      const id = randomUUID();
      for (let attempt = 0; attempt < 5; attempt += 1) {
        const sent = used.get(counter) ?? 0;
        if (sent >= rate) return;
        used.set(counter, sent + 1);
        const { status, headers } = await post(url, id);
        if (status === 410 && !is('S13 a 410 changes nothing')) return;
        if (status !== 429) break;
        const after = headers['retry-after'] ?? '';
        const seconds = Number(after);
        const isDate = Number.isNaN(seconds) && !is('S14 Retry-After is read as a number only');
        const ms = isDate ? Date.parse(after) - Date.now() : seconds * 1_000;
        if (!is('S14 Retry-After is ignored')) await sleep(ms || 0);
      }
    }
  }

  async function post(url: string, id: string): Promise<Answer> {
    const body = JSON.stringify({ specversion: '1.0', id, source: 'urn:example:small', type: 'com.example.small' });
    const type = { 'Content-Type': 'application/cloudevents+json' };
    const to = plain ? url.replace('https:', 'http:') : token === undefined ? url : `${url}&${token}`;
    const headers = {
      'WebHook-Request-Origin': is('S15 events name another origin') ? `www.${named}` : named,
      ...(is('S15 events have no Content-Type') ? {} : type),
      'Content-Length': String(body.length),
      Authorization: 'Bearer a-secret-of-the-sender',
    };
    const method = (is('S15 events are sent by PUT') ? 'PUT' : 'POST') as 'POST';
    const signed = await signDelivery({ method, url: to, headers, body: Buffer.from(body) });
    return sendFollowing(is('S12 POST follows redirects'), method, to, signed, body);
  }

  return {
    async work(assignment) {
      const key = randomUUID();
      const use = async () => {
        const consent = await ask(assignment.url, key, (early) => deliver(assignment, early));
        if (consent) await deliver(assignment, consent);
      };
      const end = use();
      ends.set(key, end);
      await end;
      if (isGoneAtEnd) known.delete(key);
    },
    stop() {
      agent.destroy();
      callbacks.close();
      callbacks.closeAllConnections();
    },
  };
}
