import { createHash, createHmac, createPrivateKey, sign, X509Certificate, type KeyObject } from 'node:crypto';
import { RegistryError } from '../../base/errors.js';
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

/** A private key, and when it signs as its source says. */
interface HeldKey {
  keyid: string;
  privateKey: KeyObject;
  startsat: string;
  endsat?: string | undefined;
}

/** What an origin signs with and identifies itself with. In memory only. */
interface Material {
  agent: SignatureAgent;
  keys: readonly HeldKey[];
  clientCertificate?: ClientCertificate | undefined;
  /** Of the certificate. */
  fingerprint?: string | undefined;
}

interface Entry {
  /** The origin as it was at the last look; the feed reports a change as a new object. */
  seen: KnownOrigin;
  /** As it was when the material was loaded. */
  loadedFor: KnownOrigin | undefined;
  /** Undefined before the first load. */
  material: Material | undefined;
  /** The registry said that the token may not read keys. */
  isRefused: boolean;
  /** Monotonic: when to load again. */
  until: number;
  /** Settles when the present load ends, or when deliveries have waited long enough for it. */
  loading: Promise<unknown> | undefined;
  failures: number;
  isReported: boolean;
}

/** Nothing may be sent now, and it may work later. */
export interface NotReady {
  detail: string;
  retryAfterSeconds: number;
}

/** Half the processor time of a signature would go into the threads and promises of those of the Web. */
const hashes: Hashes = {
  sha256: (bytes) => createHash('sha256').update(bytes).digest(),
  hmac: (key, bytes) => createHmac('sha256', key).update(bytes).digest(),
};

/** Deliveries wait for the first keys of an origin as long as this; then they are withheld. */
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
 * A delivery goes unsigned only if the registry said that nothing signs it: `signatures` is `off`, no key of the origin
 * signs now, or the token may not sign. Keys that are not here yet say nothing, so the delivery is withheld until they are,
 * and likewise without the client certificate of the origin. `onFault` is called once for each state of the origin.
 *
 * The feed decides which keys sign, and when. Only keys that were loaded since its last change may be newer than the feed.
 */
export class Signing {
  readonly #settings: SigningSettings;
  readonly #entries = new Map<string, Entry>();

  constructor(settings: SigningSettings) {
    this.#settings = settings;
  }

  /** Loads what the origin needs. Undefined if a delivery may be sent now. Never rejects. */
  async prepare(name: string): Promise<NotReady | undefined> {
    if (this.#settings.own === false) return undefined;
    const origin = this.#settings.originOf(name);
    if (origin === undefined) return { detail: `The registry knows no origin ${name}.`, retryAfterSeconds: 1 };
    if (!this.#needsKey(origin) && !this.#needsCertificate(origin)) return undefined;
    const entry = this.#entryOf(name, origin);
    const isFirst = entry.failures === 0;
    if (entry.loading === undefined && entry.until <= performance.now()) {
      const loaded = this.#load(name, origin, entry).finally(() => (entry.loading = undefined));
      entry.loading = Promise.race([loaded, sleep(patienceMs, this.#settings.closing, { ref: false })]);
    }
    if (this.#lacks(origin, entry) === undefined) return undefined;
    if (entry.loading !== undefined && isFirst) await entry.loading;
    const what = this.#lacks(this.#settings.originOf(name) ?? origin, entry);
    if (what === undefined) return undefined;
    const detail = `Deliveries of ${name} wait for ${what}.`;
    this.#report(entry, detail);
    const seconds = Math.ceil((entry.until - performance.now()) / 1_000);
    return { detail, retryAfterSeconds: Math.min(Math.max(1, seconds), 60) };
  }

  /** Takes out of memory what the feed reports as gone. */
  forget(name: string | undefined): void {
    for (const of of name === undefined ? this.#entries.keys() : [name]) {
      const [origin, entry] = [this.#settings.originOf(of), this.#entries.get(of)];
      if (origin === undefined) this.#entries.delete(of);
      else if (entry?.material !== undefined) {
        const { agent, keys, clientCertificate, fingerprint } = entry.material;
        const listed = new Set(origin.keys?.map(({ keyid }) => keyid));
        const isShown = fingerprint !== undefined && fingerprint === origin.certificatefingerprint;
        entry.material = {
          agent,
          keys: keys.filter(({ keyid }) => listed.has(keyid)),
          ...(isShown && { clientCertificate, fingerprint }),
        };
      }
    }
  }

  /**
   * A request signed to be sent now: with the key of the origin, and with each signing secret of the webhook (Standard
   * Webhooks). Rejects if a signing secret is missing from the match, and with RegistryError `secret_unavailable` while
   * `prepare` says that nothing may be sent.
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
    const notReady = await this.prepare(origin);
    if (notReady !== undefined) throw unready(notReady);
    const now = this.#settings.now();
    const timestamp = Math.floor(now / 1_000);
    // The match may be older than the end of the overlap.
    const secrets = until !== undefined && Date.parse(until) <= now ? all.slice(0, 1) : all;
    const [ofKey, ofSecrets] = await Promise.all([
      this.#headersOf(origin, { url, headers, body }, timestamp),
      secrets.length > 0 && signMessage({ id: messageId(), timestamp, body }, secrets, hashes),
    ]);
    const clientCertificate = this.#settings.clientCertificate ?? this.#certificateOf(origin);
    return {
      url,
      headers: withHeaders(headers, { ...ofSecrets, ...ofKey }),
      body,
      ...(clientCertificate && { clientCertificate }),
    };
  }

  /** None if the delivery is not signed. */
  async #headersOf(name: string, delivery: SignedDelivery, now: number): Promise<Record<string, string>> {
    const origin = this.#settings.originOf(name);
    const { signatures: form = 'off' } = origin ?? {};
    if (origin === undefined || form === 'off' || this.#settings.own === false) return {};
    const entry = this.#entryOf(name, origin);
    const key = this.#signingKey(origin, entry);
    if (key === undefined || entry.material === undefined) {
      // The feed may have reported a change since `prepare`.
      if (this.#lacks(origin, entry) !== undefined) throw unready({ detail: `${name} changed.`, retryAfterSeconds: 1 });
      const why = `Deliveries of ${name} are not signed: the registry has no key that signs now.`;
      if (!entry.isRefused && !this.#settings.own) this.#report(entry, why);
      return {};
    }
    const settings = { keyid: key.keyid, form, agent: entry.material.agent, now, hashes };
    const prepared = await prepareDelivery({ method: 'POST', ...delivery }, settings);
    return prepared.fields(sign(null, prepared.base, key.privateKey));
  }

  /** The feed says that deliveries are signed, and with which keys. */
  #needsKey({ signatures = 'off', keys = [] }: KnownOrigin): boolean {
    return this.#settings.own !== false && signatures !== 'off' && keys.length > 0;
  }

  /** That of the registry comes with its keys only. */
  #needsCertificate({ certificatefingerprint }: KnownOrigin): boolean {
    const { own, clientCertificate } = this.#settings;
    return own === undefined && clientCertificate === undefined && certificatefingerprint !== undefined;
  }

  /** What a delivery must not go without, and is not here. */
  #lacks(origin: KnownOrigin, entry: Entry): string | undefined {
    const { material, isRefused } = entry;
    if (isRefused) return undefined;
    const isFresh = entry.loadedFor === origin;
    // The host has no key for this origin, or the registry has none that signs now.
    const isKeyless = isFresh && (this.#settings.own ? material?.keys.length === 0 : true);
    if (this.#needsKey(origin) && !isKeyless && this.#signingKey(origin, entry) === undefined) {
      return material !== undefined && isFresh ? 'their key, which the registry does not list' : 'their keys';
    }
    const hasCertificate = isFresh || material?.fingerprint === origin.certificatefingerprint;
    return this.#needsCertificate(origin) && !hasCertificate ? 'their client certificate' : undefined;
  }

  #certificateOf(name: string): ClientCertificate | undefined {
    const origin = this.#settings.originOf(name);
    const isNeeded = origin !== undefined && this.#needsCertificate(origin);
    return isNeeded ? this.#entries.get(name)?.material?.clientCertificate : undefined;
  }

  #entryOf(name: string, origin: KnownOrigin): Entry {
    let entry = this.#entries.get(name);
    if (entry?.seen === origin) return entry;
    entry ??= {
      ...{ seen: origin, loadedFor: undefined, material: undefined, isRefused: false },
      ...{ until: 0, loading: undefined, failures: 0, isReported: false },
    };
    Object.assign(entry, { seen: origin, until: 0, failures: 0, isReported: false });
    this.#entries.set(name, entry);
    return entry;
  }

  async #load(name: string, origin: KnownOrigin, entry: Entry): Promise<void> {
    const { own } = this.#settings;
    let until = Infinity;
    try {
      const material = own ? await ownMaterial(own, name) : await this.#fetch(name);
      Object.assign(entry, { material, loadedFor: origin, isRefused: false, failures: 0 });
    } catch (error) {
      // Any other 403 may come from a proxy, and says nothing about the token.
      if (error instanceof AssentError && error.code === 'scope_missing') {
        Object.assign(entry, { material: undefined, isRefused: true, failures: 0 });
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
      keys: keys.map(({ jwk, ...key }) => ({ ...key, privateKey: createPrivateKey({ key: jwk, format: 'jwk' }) })),
      ...(shown && {
        clientCertificate: { certificate: shown.certificate, privateKey: shown.privatekey },
        fingerprint: new X509Certificate(shown.certificate).fingerprint256,
      }),
    };
  }

  /** The newest key that has started and not ended, of those whose private part is here. */
  #signingKey(origin: KnownOrigin, { material, loadedFor }: Entry): HeldKey | undefined {
    if (material === undefined) return undefined;
    const now = this.#settings.now();
    const isNewest = this.#settings.own === undefined && loadedFor === origin;
    const listed = new Map(origin.keys?.map((key) => [key.keyid, key]));
    const held = material.keys.flatMap((key) => {
      const times = isNewest ? key : listed.get(key.keyid);
      return times === undefined ? [] : [{ ...key, startsat: times.startsat, endsat: times.endsat }];
    });
    const active = held.filter(
      ({ startsat, endsat }) => Date.parse(startsat) <= now && (endsat === undefined || Date.parse(endsat) > now),
    );
    // Of two that start together, the last one, as in the registry.
    return active.sort((a, b) => Date.parse(a.startsat) - Date.parse(b.startsat)).at(-1);
  }

  #report(entry: Entry, message: string, cause?: unknown): void {
    if (entry.isReported || this.#settings.closing.aborted) return;
    entry.isReported = true;
    this.#settings.onFault(new Error(message, { cause }));
  }
}

const unready = (why: NotReady) => new RegistryError('secret_unavailable', why.detail, why);

async function ownMaterial({ key, agent }: OwnSigning, name: string): Promise<Material> {
  const jwk = typeof key === 'function' ? await key(name) : key;
  const found = jwk && (await publicKeyOf(jwk));
  if (jwk !== undefined && found === undefined) throw new Error('The key is not an Ed25519 key.');
  return {
    agent: agent ?? { url: `https://${name}`, type: 'directory' },
    // When it signs is what the registry lists.
    keys:
      jwk && found
        ? [{ keyid: found.kid, startsat: '', privateKey: createPrivateKey({ key: { ...jwk }, format: 'jwk' }) }]
        : [],
  };
}
