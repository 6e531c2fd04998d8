import { createPublicKey } from 'node:crypto';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWK, type JWTVerifyGetKey } from 'jose';
import { RegistryError } from '../../base/errors.js';
import { tokenTexts } from '../../base/texts/tokens.js';
import type { TrustedRoute } from '../../outbound/trusted-route.js';
import { fetchJson } from './fetch-json.js';

/**
 * Finds the public key of a token. Rejects with jose's `JWKSNoMatchingKey` if the issuer has no such key, and with a
 * RegistryError `keys_unavailable` if the service cannot know that yet.
 */
export type KeySource = JWTVerifyGetKey;

interface RemoteKeySettings {
  /** From the operator's configuration, so it is trusted. */
  url: string;
  /** Through a proxy or not. Directly if absent. */
  route?: TrustedRoute;
  /** Monotonic milliseconds: a wall clock that is set back would stop the refresh. */
  clock?: () => number;
  /** For a whole fetch, from the name look-up to the last byte. */
  timeoutMs?: number;
  /** Called for every failed fetch, because known keys keep working and nothing else would report it. */
  onOutage?: (cause: unknown) => void;
  /** Called when the fetched set differs from the kept one: tokens that an old key verified may no longer be valid. */
  onChange?: () => void;
}

const refreshAfterMs = 600_000;
const awaitAfterMs = 1_200_000;
const keepMs = 86_400_000;
const cooldownMs = 30_000;
const cooldownWithoutKeysMs = 5_000;
const maxUnknown = 64;
const jsonTypes = 'application/jwk-set+json, application/json';

/**
 * The keys at a JWK Set URL (RFC 7517, section 5).
 *
 * The age of the kept set decides what a look-up does:
 *
 *   no set yet, or older than a day   waits for a fetch
 *   less than ten minutes             uses the set
 *   up to twenty minutes              uses the set; one fetch starts in the background
 *   older                             waits for that fetch, because a key may have been withdrawn hours ago; uses the
 *                                     set if the fetch fails, or if one has failed in the last ten minutes
 *
 * A key that is not in the set also makes the look-up wait for a fetch. All look-ups share one fetch. The next one
 * starts at least 30 s after the last (5 s while there is no set), so that unknown keys cannot flood the issuer. Until
 * then the issuer may have published the key: the look-up fails with `keys_unavailable` and the time of the next fetch.
 * A key that was missing from a fetched set is refused while the set stays the same. So is every other unknown key
 * while 64 unknown keys are remembered.
 *
 * jose's createRemoteJWKSet does less: it drops the set when a refresh fails, and does not pause after a failure.
 */
export function createRemoteKeySource(settings: RemoteKeySettings): KeySource {
  const keys = new RemoteKeys(settings);
  return (header, token) => keys.find(header, token);
}

class RemoteKeys {
  readonly #url: string;
  readonly #clock: () => number;
  readonly #timeoutMs: number;
  readonly #route: TrustedRoute | undefined;
  readonly #settings: Pick<RemoteKeySettings, 'onOutage' | 'onChange'>;
  #kept: { find: KeySource; fetchedAt: number; text: string; ids: string[] } | undefined;
  #attemptedAt = -Infinity;
  #outage: { cause: unknown; at: number } | undefined;
  #pending: Promise<void> | undefined;
  /** Ids of keys that the kept set lacks; true if a set was fetched after a token had named the key. */
  readonly #unknown = new Map<string, boolean>();

  constructor({ url, clock = () => performance.now(), timeoutMs = 3_000, route, ...settings }: RemoteKeySettings) {
    this.#url = url;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#route = route;
    this.#settings = settings;
  }

  async find(...[header, token]: Parameters<KeySource>): Promise<Awaited<ReturnType<KeySource>>> {
    let isFresh = false;
    const age = this.#age();
    if (age >= keepMs) this.#kept = undefined;
    if (!this.#kept || (age >= awaitAfterMs && !this.#isOut())) isFresh = await this.#refresh();
    else if (age >= refreshAfterMs) void this.#refresh();
    try {
      if (this.#kept) return await this.#kept.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const id = idOf(header);
      if (this.#unknown.size < maxUnknown && !this.#unknown.has(id)) this.#unknown.set(id, isFresh);
      isFresh ||= await this.#refresh();
      const isMissing = isFresh || (this.#unknown.get(id) ?? true);
      if (this.#kept && !this.#outage && isMissing) return await this.#kept.find(header, token);
    }
    const retryAfterSeconds = Math.max(1, Math.ceil(this.#cooldownLeftMs() / 1_000));
    const detail = this.#outage ? tokenTexts.keysUnavailable : tokenTexts.keyNotFetched(retryAfterSeconds);
    throw new RegistryError('keys_unavailable', detail, { cause: this.#outage?.cause, retryAfterSeconds });
  }

  /** Whether this waited for a fetch, which may have failed. */
  async #refresh(): Promise<boolean> {
    if (!this.#pending && this.#cooldownLeftMs() <= 0) {
      this.#pending = this.#fetch().finally(() => (this.#pending = undefined));
    }
    const awaited = this.#pending;
    await awaited;
    return awaited !== undefined;
  }

  async #fetch(): Promise<void> {
    this.#attemptedAt = this.#clock();
    try {
      const keys = usableKeys(
        await fetchJson(this.#url, { timeoutMs: this.#timeoutMs, accept: jsonTypes, route: this.#route }),
      );
      const text = JSON.stringify(keys);
      const isOther = this.#kept !== undefined && this.#kept.text !== text;
      if (isOther) this.#unknown.clear();
      // A key that was in the old set and is not in the new one was withdrawn.
      const asked = isOther ? (this.#kept?.ids ?? []) : [...this.#unknown.keys()];
      for (const id of asked) this.#unknown.set(id, true);
      this.#kept = { find: createLocalJWKSet(keys), fetchedAt: this.#attemptedAt, text, ids: keys.keys.map(idOf) };
      this.#outage = undefined;
      if (isOther) this.#settings.onChange?.();
    } catch (cause) {
      this.#outage = { cause, at: this.#clock() };
      this.#settings.onOutage?.(cause);
    }
  }

  #age(): number {
    return this.#kept ? this.#clock() - this.#kept.fetchedAt : Infinity;
  }

  #isOut(): boolean {
    return this.#outage !== undefined && this.#clock() - this.#outage.at < refreshAfterMs;
  }

  #cooldownLeftMs(): number {
    return this.#attemptedAt + (this.#kept ? cooldownMs : cooldownWithoutKeysMs) - this.#clock();
  }
}

const idOf = ({ kid = '' }: { kid?: string | undefined }) => kid;

/** Leaves out unusable keys, as section 5 requires. A set without any usable key is an error, not a set. */
function usableKeys(set: unknown): JSONWebKeySet {
  const listed = (set as Partial<JSONWebKeySet> | null)?.keys;
  const keys = Array.isArray(listed) ? listed.filter(isUsable) : [];
  if (keys.length === 0) throw new Error('The JWK Set contains no usable public key.');
  return { keys };
}

/** How many keys a document has that can be used, and which of the algorithms these verify. Throws an Error if there are none. */
export async function readKeys(document: unknown, algorithms: readonly string[]) {
  const set = usableKeys(document);
  const find = createLocalJWKSet(set);
  const isFor = (alg: string) =>
    find({ alg }).then(
      () => true,
      (error: unknown) => error instanceof errors.JWKSMultipleMatchingKeys,
    );
  const fits = await Promise.all(algorithms.map(isFor));
  return { count: set.keys.length, algorithms: algorithms.filter((_, at) => fits[at]) };
}

function isUsable(jwk: JWK): boolean {
  try {
    const { modulusLength = 2048 } = createPublicKey({ key: jwk, format: 'jwk' }).asymmetricKeyDetails ?? {};
    return !('d' in jwk) && modulusLength >= 2048;
  } catch {
    return false;
  }
}
