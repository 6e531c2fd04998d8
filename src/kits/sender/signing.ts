import { createHash, createHmac, createPrivateKey, sign, type KeyObject } from 'node:crypto';
import { sleep } from '../../base/until.js';
import { retryDelayMs } from '../../consent/backoff.js';
import type { KnownOrigin } from '../../matching/replica/replica.js';
import type { Hashes } from '../../signatures/hashes.js';
import { publicKeyOf, type PublicKey } from '../../signatures/keys.js';
import { prepareDelivery, type SignatureAgent } from '../../signatures/request-signature.js';
import { signMessage } from '../../signatures/standard-webhooks.js';
import { AssentError } from '../client/assent-error.js';
import type { Client } from '../client/create-client.js';
import type { ClientCertificate } from '../guard/index.js';
import { signingFaultOf, withHeaders, type DeliveryMessage, type MatchedSink } from './delivery.js';

/** A private Ed25519 key as a JWK (RFC 8037). */
export interface PrivateKey extends Pick<PublicKey, 'kty' | 'crv' | 'x'> {
  /** Base64url. */
  d: string;
}

/**
 * A key of your own, which never leaves your process. Its public part must be a key of the origin in the registry, where
 * it starts, ends and is revoked.
 */
export interface OwnSigning {
  /** One key, or the key of each origin. Called when an origin first sends, and when it changes. */
  key: PrivateKey | ((origin: string) => PrivateKey | undefined | Promise<PrivateKey | undefined>);
  /** Where receivers find the public key. The directory of `https://<origin>` if absent. */
  agent?: SignatureAgent | undefined;
}

export interface SigningSettings {
  client: Client;
  own: OwnSigning | false | undefined;
  clientCertificate: ClientCertificate | undefined;
  /** As the feed last reported it; undefined for an unknown origin and before there is a replica. */
  originOf: (name: string) => KnownOrigin | undefined;
  onFault: (error: unknown) => void;
  closing: AbortSignal;
  /** Milliseconds since 1970, by the registry's clock. */
  now: () => number;
}

/** One request of a delivery, as the guarded client and `fetch` take it. */
export interface SignedDelivery {
  url: string;
  headers: Record<string, string>;
  /** The bytes that were signed. */
  body: Uint8Array<ArrayBuffer>;
  clientCertificate?: ClientCertificate;
}

/** What an origin signs with and identifies itself with. In memory only. */
interface Material {
  agent: SignatureAgent;
  /** By thumbprint. */
  keys: ReadonlyMap<string, KeyObject>;
  clientCertificate?: ClientCertificate | undefined;
}

interface Entry {
  /** The origin as it was at the last look; the feed reports a change as a new object. */
  seen: KnownOrigin;
  /** Undefined before the first load, and if the token may not read it. */
  material: Material | undefined;
  /** Monotonic: when to load again. */
  until: number;
  /** Settles when the present load ends, or when deliveries have waited long enough for it. */
  loading: Promise<unknown> | undefined;
  failures: number;
  isReported: boolean;
}

/** Half the processor time of a signature would go into the threads and promises of those of the Web. */
const hashes: Hashes = {
  sha256: (bytes) => createHash('sha256').update(bytes).digest(),
  hmac: (key, bytes) => createHmac('sha256', key).update(bytes).digest(),
};

/** Deliveries wait for the first keys of an origin as long as this; then they go unsigned. */
const patienceMs = 2_000;
/** The feed does not report that a token has another scope. */
const refusedMs = 3_600_000;
const backoff = { firstMs: 1_000, maxMs: 60_000 };

/**
 * Signs deliveries with the keys of their origin (RFC 9421).
 *
 *   unknown   nothing was loaded. The next delivery loads, and waits up to two seconds for it
 *   loaded    until the feed reports a change of the origin. Then the next delivery loads again
 *   refused   the token lacks `assent:sign`: nothing is signed, until a change or an hour later
 *   failed    as it was before. A delivery loads again after a while, and does not wait
 *
 * The feed decides which keys sign, and when: a key that it no longer lists signs nothing, whatever was loaded. No
 * delivery fails because it cannot be signed; `onFault` is called once for each state of the origin.
 */
export class Signing {
  readonly #settings: SigningSettings;
  readonly #entries = new Map<string, Entry>();

  constructor(settings: SigningSettings) {
    this.#settings = settings;
  }

  /** Loads what the origin needs. Never rejects. */
  async prepare(name: string): Promise<void> {
    const origin = this.#originOf(name);
    if (origin === undefined) return;
    const entry = this.#entryOf(name, origin);
    const isFirst = entry.failures === 0;
    if (entry.loading === undefined && entry.until <= performance.now()) {
      const loaded = this.#load(name, origin, entry).finally(() => (entry.loading = undefined));
      entry.loading = Promise.race([loaded, sleep(patienceMs, this.#settings.closing, { ref: false })]);
    }
    const { loading } = entry;
    if (loading !== undefined && isFirst && this.#signingKey(origin, entry) === undefined) await loading;
  }

  /**
   * A request signed to be sent now: with the key of the origin, and with each signing secret of the webhook (Standard
   * Webhooks). Rejects if a signing secret is missing from the match.
   */
  async sign(
    { headers, body: content }: DeliveryMessage,
    messageId: () => string,
    origin: string,
    to: MatchedSink,
  ): Promise<SignedDelivery> {
    const fault = signingFaultOf(to);
    if (fault !== undefined) throw new Error(fault);
    const body = typeof content === 'string' ? Buffer.from(content) : content;
    const { sink: url, signingsecrets: all = [], signingoverlapuntil: until } = to;
    await this.prepare(origin);
    const now = this.#settings.now();
    const timestamp = Math.floor(now / 1_000);
    // The match may be older than the end of the overlap.
    const secrets = until !== undefined && Date.parse(until) <= now ? all.slice(0, 1) : all;
    const [ofKey, ofSecrets] = await Promise.all([
      this.#headersOf(origin, { url, headers, body }, timestamp),
      secrets.length > 0 && signMessage({ id: messageId(), timestamp, body }, secrets, hashes),
    ]);
    const clientCertificate =
      this.#settings.clientCertificate ?? this.#entries.get(origin)?.material?.clientCertificate;
    return {
      url,
      headers: withHeaders(headers, { ...ofSecrets, ...ofKey }),
      body,
      ...(clientCertificate && { clientCertificate }),
    };
  }

  /** None if the delivery is not signed. Never rejects. */
  async #headersOf(name: string, delivery: SignedDelivery, now: number): Promise<Record<string, string>> {
    const [origin, entry] = [this.#originOf(name), this.#entries.get(name)];
    const { signatures: form = 'off' } = origin ?? {};
    if (origin === undefined || entry?.material === undefined || form === 'off') return {};
    const { agent } = entry.material;
    const key = this.#signingKey(origin, entry);
    if (key === undefined) {
      this.#report(entry, `Deliveries of ${name} are not signed: no key that the registry lists signs here.`);
      return {};
    }
    try {
      const settings = { keyid: key.keyid, form, agent, now, hashes };
      const prepared = await prepareDelivery({ method: 'POST', ...delivery }, settings);
      return prepared.fields(sign(null, prepared.base, key.privateKey));
    } catch (error) {
      this.#report(entry, `A delivery of ${name} could not be signed.`, error);
      return {};
    }
  }

  /** Its deliveries should be signed, and its keys could not be loaded: a webhook that refuses them may take the next one. */
  lacksKeys(name: string): boolean {
    const entry = this.#entries.get(name);
    return entry !== undefined && entry.failures > 0 && entry.material === undefined && entry.seen.signatures !== 'off';
  }

  #originOf(name: string): KnownOrigin | undefined {
    return this.#settings.own === false ? undefined : this.#settings.originOf(name);
  }

  #entryOf(name: string, origin: KnownOrigin): Entry {
    let entry = this.#entries.get(name);
    if (entry?.seen === origin) return entry;
    entry ??= { seen: origin, material: undefined, until: 0, loading: undefined, failures: 0, isReported: false };
    Object.assign(entry, { seen: origin, until: 0, failures: 0, isReported: false });
    this.#entries.set(name, entry);
    return entry;
  }

  async #load(name: string, origin: KnownOrigin, entry: Entry): Promise<void> {
    const { own } = this.#settings;
    let until = Infinity;
    try {
      entry.material = own ? await ownMaterial(own, name) : await this.#fetch(name);
      entry.failures = 0;
    } catch (error) {
      if (error instanceof AssentError && error.status === 403) {
        entry.material = undefined;
        until = performance.now() + refusedMs;
      } else {
        entry.failures += 1;
        until = performance.now() + retryDelayMs(entry.failures, backoff);
        this.#report(entry, `The keys of ${name} could not be loaded.`, error);
      }
    }
    // It may have changed meanwhile.
    if (entry.seen === origin) entry.until = until;
  }

  async #fetch(name: string): Promise<Material> {
    const { client, closing } = this.#settings;
    const { data } = await client.GET('/origins/{name}/private-keys', { params: { path: { name } }, signal: closing });
    const { agent, keys, clientcertificate: shown } = data;
    return {
      agent,
      keys: new Map(keys.map(({ keyid, jwk }) => [keyid, createPrivateKey({ key: jwk, format: 'jwk' })])),
      clientCertificate: shown && { certificate: shown.certificate, privateKey: shown.privatekey },
    };
  }

  /** The newest key that has started and not ended, of those whose private part is here. */
  #signingKey({ keys = [] }: KnownOrigin, { material }: Entry) {
    const now = this.#settings.now();
    const found = keys.flatMap(({ keyid, startsat, endsat }) => {
      const privateKey = material?.keys.get(keyid);
      const startsAt = Date.parse(startsat);
      const isActive = startsAt <= now && (endsat === undefined || Date.parse(endsat) > now);
      return privateKey !== undefined && isActive ? { keyid, privateKey, startsAt } : [];
    });
    // Of two that start together, the last one, as in the registry.
    return found.sort((a, b) => a.startsAt - b.startsAt).at(-1);
  }

  #report(entry: Entry, message: string, cause?: unknown): void {
    if (entry.isReported || this.#settings.closing.aborted) return;
    entry.isReported = true;
    this.#settings.onFault(new Error(message, { cause }));
  }
}

async function ownMaterial({ key, agent }: OwnSigning, name: string): Promise<Material> {
  const jwk = typeof key === 'function' ? await key(name) : key;
  const found = jwk && (await publicKeyOf(jwk));
  if (jwk !== undefined && found === undefined) throw new Error('The key is not an Ed25519 key.');
  return {
    agent: agent ?? { url: `https://${name}`, type: 'directory' },
    keys: new Map(jwk && found && [[found.kid, createPrivateKey({ key: { ...jwk }, format: 'jwk' })]]),
  };
}
