import { byKeyid, keysOf, type PublicKey } from '../../signatures/keys.js';
import { fieldsOf, type SignedRequest } from '../../signatures/message-signature.js';
import {
  directoryPath,
  isAttribute,
  verifyRequest,
  type SignatureFault,
  type Verification as RequestVerification,
} from '../../signatures/request-signature.js';
import { secretOf, verifyMessage } from '../../signatures/standard-webhooks.js';
import type { Caller } from './callback-call.js';
import { createCallbackGuard, type CallbackRules } from './callback-url.js';
import { allow, problem, type WebhookRequest, type WebhookResponse } from './exchange.js';
import { KeySets, KeysUnavailable } from './key-sets.js';
import type { OriginVerdict } from './origin-policy.js';
import { createReplays, type ReplayStore } from './replays.js';

/**
 * Where the public keys of an origin are: in its own directory (`https://<origin>/.well-known/…`), at another https URL,
 * or here.
 */
export type KeySource = 'directory' | (string & {}) | { readonly keys: readonly object[] };

export interface VerifySettings {
  /**
   * This webhook as its senders know it, such as `https://webhook.example.com/events`; several for several hosts. A
   * signature is for one URL: what was sent to another webhook is refused here. Without a path, that of each request
   * holds. Required with `keys`.
   */
  url?: string | readonly string[] | undefined;
  /** Handshakes and deliveries must carry a signature (RFC 9421) by a key of the origin that they name. */
  keys?: KeySource | ((origin: string) => KeySource | Promise<KeySource>) | undefined;
  /** Deliveries must carry a signature of Standard Webhooks by one of these secrets: `whsec_…`, several during a rotation. */
  secrets?: readonly string[] | ((origin: string) => readonly string[] | Promise<readonly string[]>) | undefined;
  /** What was received, so that a copy is refused. In this process alone if absent. */
  replays?: ReplayStore | undefined;
  /** Called with each request that is refused. */
  onRefused?: ((refused: Refused) => void) | undefined;
  /** CIDR. Networks where keys may be read although they are not public. Empty if absent. */
  networks?: CallbackRules['networks'];
  /** PEM of an authority that is trusted instead of the public ones, where keys are read. */
  ca?: string | undefined;
  /** For development: keys are read by plain http, too, and at every address. */
  development?: boolean | undefined;
  /** Milliseconds to read keys: 5,000 if absent. */
  deadlineMs?: number | undefined;
}

/** Why a request does not count as one of its origin. */
export type VerifyFault = SignatureFault | 'keys_unavailable';

export interface Refused {
  origin: string;
  method: string;
  fault: VerifyFault;
  detail: string;
}

/** `release`: the delivery was not accepted, so a repetition is no copy. */
export type DeliveryVerdict =
  { ok: true; keyid: string | undefined; release: () => Promise<void> } | { ok: false; refusal: WebhookResponse };

type Wrong = { ok: false; fault: VerifyFault; detail: string };
const wrong = (fault: VerifyFault, detail: string): Wrong => ({ ok: false, fault, detail });

/** Of a directory or another set of keys. */
const maxKeyBytes = 65_536;
const retrySeconds = 10;

/** The body is too large, or did not arrive. */
class Unread extends Error {
  readonly response: WebhookResponse;

  constructor(response: WebhookResponse) {
    super();
    this.response = response;
  }
}

/** Checks who sent a request. Methods reject if a function or the store of the application fails. */
export class Verification {
  readonly #settings: VerifySettings;
  readonly #caller: Caller;
  readonly #onFault: (error: unknown) => void;
  readonly #urls: readonly string[];
  readonly #replays: ReplayStore;
  readonly #keySets: KeySets;
  /** Sets that the application gave, once they are read. */
  readonly #given = new WeakMap<object, ReadonlyMap<string, PublicKey>>();

  /** Throws an Error that names the wrong setting. */
  constructor(settings: VerifySettings, caller: Caller, onFault: (error: unknown) => void) {
    const { url, keys, secrets, networks, ca, development, deadlineMs = 5_000, replays } = settings;
    if (keys === undefined && secrets === undefined) throw new Error('`verify` needs `keys`, `secrets`, or both.');
    if (!(Number.isFinite(deadlineMs) && deadlineMs > 0)) throw new Error('`verify.deadlineMs` is a positive number.');
    if (!caller.checksAddresses && (ca !== undefined || networks !== undefined)) {
      throw new Error('`verify.ca` and `verify.networks` are set, and fetch takes neither.');
    }
    this.#urls = url === undefined ? [] : [url].flat().map(checkUrl);
    if (keys !== undefined && this.#urls.length === 0) {
      throw new Error(
        '`verify.url` is missing: this webhook as senders know it, such as https://webhook.example.com/events. ' +
          'Without it, a request that was signed for another webhook could be sent on to this one.',
      );
    }
    if (keys !== undefined && typeof keys !== 'function') checkSource(keys, development);
    if (secrets !== undefined && typeof secrets !== 'function') checkSecrets(secrets);
    this.#settings = settings;
    this.#caller = caller;
    this.#onFault = onFault;
    this.#replays = replays ?? createReplays();
    // Throws for a network that is none.
    createCallbackGuard({ networks, development }, 'verify');
    this.#keySets = new KeySets({
      sharesReads: caller.background,
      onFault,
      read: async (address) => {
        // The name was allowed, or the application has the URL: any port, and only this host.
        const { protocol, hostname, port } = new URL(address);
        const host = `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
        const guard = createCallbackGuard({ hosts: [host], networks, development }, 'verify');
        const target = guard.parse(address);
        if (typeof target === 'string') return { kind: 'failed', detail: target };
        return caller.read(target, { guard, ca, deadlineMs }, maxKeyBytes);
      },
    });
  }

  /**
   * The response to a handshake that is not signed as it must be; undefined if it is. The directory of an origin that is
   * not allowed yet is not read: anyone can name one.
   */
  async refuseHandshake(
    origin: string,
    verdict: OriginVerdict,
    request: WebhookRequest,
  ): Promise<WebhookResponse | undefined> {
    const source = await this.#sourceOf(origin, verdict);
    if (source === undefined || (source === 'directory' && verdict.kind !== 'allowed')) return undefined;
    const verified = await this.#verify(origin, source, request, undefined);
    return verified.ok ? undefined : this.#refusal(origin, request.method, verified);
  }

  /** `read` is called when a signature without the body is right. */
  async checkDelivery(
    origin: string,
    verdict: OriginVerdict,
    request: WebhookRequest,
    read: () => Promise<Uint8Array | WebhookResponse>,
  ): Promise<DeliveryVerdict> {
    try {
      return await this.#check(origin, verdict, request, async () => {
        const body = await read();
        if (body instanceof Uint8Array) return body;
        throw new Unread(body);
      });
    } catch (error) {
      if (error instanceof Unread) return { ok: false, refusal: error.response };
      throw error;
    }
  }

  async #check(
    origin: string,
    verdict: OriginVerdict,
    request: WebhookRequest,
    readBody: () => Promise<Uint8Array>,
  ): Promise<DeliveryVerdict> {
    const { secrets } = this.#settings;
    const refuse = (why: Wrong) => ({ ok: false as const, refusal: this.#refusal(origin, request.method, why) });
    const source = await this.#sourceOf(origin, verdict);
    const signed = source === undefined ? undefined : await this.#verify(origin, source, request, readBody);
    if (signed?.ok === false) return refuse(signed);
    const fieldOf = fieldsOf(pairsOf(request.headers));
    let { fingerprints, until } = signed?.signature ?? { fingerprints: [] as string[], until: 0 };
    if (secrets !== undefined) {
      if (source === undefined && fieldOf('ce-specversion') !== undefined) {
        const detail = 'A signature of Standard Webhooks covers the body alone. Send the event in structured mode.';
        return refuse(wrong('signature_incomplete', detail));
      }
      const body = await readBody();
      const known = typeof secrets === 'function' ? checkSecrets(await secrets(origin)) : secrets;
      const message = await verifyMessage(fieldOf, body, known, Date.now() / 1_000);
      if (!message.ok) return refuse(message);
      if (signed === undefined) [fingerprints, until] = [[message.message.fingerprint], message.message.until];
    }
    // Without a key, nothing that is signed names the origin: a copy that names another one is a copy.
    const of = signed === undefined ? 'secret' : origin;
    const seconds = Math.max(1, Math.ceil(until - Date.now() / 1_000));
    const added: string[] = [];
    for (const id of fingerprints.map((each) => `${of}:${each}`)) {
      if (await this.#replays.add(id, seconds)) added.push(id);
    }
    if (added.length < fingerprints.length) {
      await this.#release(added);
      return refuse(wrong('signature_replayed', 'This request was received before. Sign each attempt anew.'));
    }
    return { ok: true, keyid: signed?.signature.keyid, release: () => this.#release(added) };
  }

  async #release(ids: readonly string[]): Promise<void> {
    try {
      for (const id of ids) await this.#replays.remove(id);
    } catch (error) {
      this.#onFault(error);
    }
  }

  async #sourceOf(origin: string, { kind, ...verdict }: OriginVerdict): Promise<KeySource | undefined> {
    const { keys, development } = this.#settings;
    const source = typeof keys === 'function' ? checkSource(await keys(origin), development) : keys;
    const isAny = kind === 'allowed' && 'isAny' in verdict && verdict.isAny;
    if (source === 'directory' && isAny && !this.#caller.checksAddresses && !development) {
      throw new Error(
        '`origins` allows every name, and nothing here checks the address of a directory. List the names.',
      );
    }
    return source;
  }

  async #verify(
    origin: string,
    source: KeySource,
    request: WebhookRequest,
    body: (() => Promise<Uint8Array>) | undefined,
  ): Promise<Extract<RequestVerification, { ok: true }> | Wrong> {
    const names = request.headers.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
    try {
      return await verifyRequest(this.#signedOf(request), {
        keyOf: (keyid) => this.#keyOf(origin, source, keyid),
        body,
        mustCover: [...new Set(names.filter(isAttribute))],
        now: Date.now() / 1_000,
      });
    } catch (error) {
      if (error instanceof KeysUnavailable) return wrong('keys_unavailable', error.message);
      throw error;
    }
  }

  async #keyOf(origin: string, source: KeySource, keyid: string): Promise<PublicKey | undefined> {
    if (source === 'directory') return this.#keySets.keyOf(`https://${origin}${directoryPath}`, keyid);
    if (typeof source === 'string') return this.#keySets.keyOf(source, keyid);
    let keys = this.#given.get(source);
    if (keys === undefined) {
      keys = byKeyid(await keysOf(source));
      this.#given.set(source, keys);
    }
    return keys.get(keyid);
  }

  /** The request as its sender signed it: at the URL of this webhook, whatever a proxy in front made of it. */
  #signedOf({ method, url, headers }: WebhookRequest): SignedRequest {
    const fieldOf = fieldsOf(pairsOf(headers));
    const host = (fieldOf(':authority') ?? fieldOf('host') ?? '').toLowerCase();
    const own = this.#urls.find((each) => new URL(each).host === host) ?? this.#urls[0]!;
    const [, base = '', path = ''] = /^(https?:\/\/[^/?#]+)(.*)$/i.exec(own) ?? [];
    const [, sent = '', query = ''] = /^(?:[a-z]+:\/\/[^/?#]*)?([^?#]*)([^#]*)/i.exec(url) ?? [];
    return { method, url: base + (path === '' ? sent || '/' : path) + query, fieldOf };
  }

  #refusal(origin: string, method: string, { fault, detail }: Wrong): WebhookResponse {
    this.#settings.onRefused?.({ origin, method, fault, detail });
    const headers = method === 'OPTIONS' ? allow : {};
    if (fault === 'keys_unavailable') {
      return problem(503, 'The keys of the origin cannot be read at present.', {
        headers: { ...headers, 'Retry-After': String(retrySeconds) },
        faults: [{ pointer: 'header/signature', rule: fault, detail: 'Its keys cannot be read at present.' }],
      });
    }
    return problem(401, detail, {
      headers: { ...headers, 'WWW-Authenticate': 'Signature realm="webhook"' },
      faults: [{ pointer: 'header/signature', rule: fault, detail }],
    });
  }
}

/** Names and values in pairs. */
function* pairsOf(raw: readonly string[]): Generator<[string, string]> {
  for (let at = 0; at + 1 < raw.length; at += 2) yield [raw[at]!, raw[at + 1]!];
}

/** Without a path if the setting has none, nor just a slash. */
function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || /[?#]/.test(text) || url.username !== '') {
    throw new Error(
      `\`verify.url\` has ${JSON.stringify(text)}: write the URL of this webhook, without a query, such as https://webhook.example.com/events.`,
    );
  }
  return url.origin + (url.pathname === '/' ? '' : url.pathname);
}

function checkSource(source: KeySource, development: boolean | undefined): KeySource {
  if (source === 'directory') return source;
  const protocol = typeof source === 'string' && URL.canParse(source) ? new URL(source).protocol : undefined;
  if (protocol === 'https:' || (protocol === 'http:' && development)) return source;
  const keys: unknown = typeof source === 'object' && source !== null ? source.keys : undefined;
  const isKey = (key: unknown) => (key as { crv?: unknown } | null)?.crv === 'Ed25519';
  if (Array.isArray(keys) && keys.some(isKey)) return source;
  throw new Error(
    '`verify.keys` is "directory", the https URL of a JSON Web Key Set, a set with at least one Ed25519 key, or a function.',
  );
}

/** The message has no secret. */
function checkSecrets(secrets: readonly string[]): readonly string[] {
  const isSecret = (each: unknown) => typeof each === 'string' && secretOf(each) !== undefined;
  const list: unknown = secrets;
  if (Array.isArray(list) && list.length > 0 && list.every(isSecret)) return secrets;
  throw new Error('`verify.secrets` is a list of at least one secret: whsec_ and 24 to 64 bytes in Base64.');
}
