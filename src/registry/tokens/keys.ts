import { createPublicKey } from 'node:crypto';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWK, type JWTVerifyGetKey } from 'jose';
import { RegistryError } from '../../base/errors.js';
import { tokenTexts } from '../../base/texts/tokens.js';
import { fetchJson } from './fetch-json.js';

/**
 * Finds the public key of a token. Rejects with jose's `JWKSNoMatchingKey` if the issuer has no such key, and with a
 * RegistryError `keys_unavailable` if the service cannot know that yet.
 */
export type KeySource = JWTVerifyGetKey;

interface RemoteKeySettings {
  /** From the operator's configuration, so it is trusted. */
  url: string;
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
  const { url, clock = () => performance.now(), timeoutMs = 3_000, onOutage, onChange } = settings;
  let kept: { find: KeySource; fetchedAt: number; text: string; ids: string[] } | undefined;
  let attemptedAt = -Infinity;
  let outage: { cause: unknown; at: number } | undefined;
  let pending: Promise<void> | undefined;
  /** Ids of keys that the kept set lacks; true if a set was fetched after a token had named the key. */
  const unknown = new Map<string, boolean>();

  async function fetchOnce() {
    attemptedAt = clock();
    try {
      const keys = usableKeys(await fetchJson(url, timeoutMs, jsonTypes));
      const text = JSON.stringify(keys);
      const isOther = kept !== undefined && kept.text !== text;
      if (isOther) unknown.clear();
      // A key that was in the old set and is not in the new one was withdrawn.
      const asked = isOther ? (kept?.ids ?? []) : [...unknown.keys()];
      for (const id of asked) unknown.set(id, true);
      kept = { find: createLocalJWKSet(keys), fetchedAt: attemptedAt, text, ids: keys.keys.map(idOf) };
      outage = undefined;
      if (isOther) onChange?.();
    } catch (cause) {
      outage = { cause, at: clock() };
      onOutage?.(cause);
    }
  }

  const age = () => (kept ? clock() - kept.fetchedAt : Infinity);
  const isOut = () => outage !== undefined && clock() - outage.at < refreshAfterMs;
  const cooldownLeftMs = () => attemptedAt + (kept ? cooldownMs : cooldownWithoutKeysMs) - clock();

  /** Whether this waited for a fetch, which may have failed. */
  async function refresh(): Promise<boolean> {
    if (!pending && cooldownLeftMs() <= 0) pending = fetchOnce().finally(() => (pending = undefined));
    const awaited = pending;
    await awaited;
    return awaited !== undefined;
  }

  return async (header, token) => {
    let isFresh = false;
    if (age() >= keepMs) kept = undefined;
    if (!kept || (age() >= awaitAfterMs && !isOut())) isFresh = await refresh();
    else if (age() >= refreshAfterMs) void refresh();
    try {
      if (kept) return await kept.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const id = idOf(header);
      if (unknown.size < maxUnknown && !unknown.has(id)) unknown.set(id, isFresh);
      isFresh ||= await refresh();
      const isMissing = isFresh || (unknown.get(id) ?? true);
      if (kept && !outage && isMissing) return await kept.find(header, token);
    }
    const retryAfterSeconds = Math.max(1, Math.ceil(cooldownLeftMs() / 1_000));
    const detail = outage ? tokenTexts.keysUnavailable : tokenTexts.keyNotFetched(retryAfterSeconds);
    throw new RegistryError('keys_unavailable', detail, { cause: outage?.cause, retryAfterSeconds });
  };
}

const idOf = ({ kid = '' }: { kid?: string | undefined }) => kid;

/** Follows no redirects and unpacks no compressed bodies, so the limits apply to the bytes that are read. */
/** Leaves out unusable keys, as section 5 requires. A set without any usable key is an error, not a set. */
function usableKeys(set: unknown): JSONWebKeySet {
  const listed = (set as Partial<JSONWebKeySet> | null)?.keys;
  const keys = Array.isArray(listed) ? listed.filter(isUsable) : [];
  if (keys.length === 0) throw new Error('The JWK Set contains no usable public key.');
  return { keys };
}

function isUsable(jwk: JWK): boolean {
  try {
    const { modulusLength = 2048 } = createPublicKey({ key: jwk, format: 'jwk' }).asymmetricKeyDetails ?? {};
    return !('d' in jwk) && modulusLength >= 2048;
  } catch {
    return false;
  }
}
