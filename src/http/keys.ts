import { createPublicKey } from 'node:crypto';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWK, type JWTVerifyGetKey } from 'jose';
import { request } from 'undici';
import { RegistryError } from '../errors.js';
import { tokenTexts } from '../texts/tokens.js';

/**
 * Finds the public key of a token. Rejects with jose's `JWKSNoMatchingKey` when the issuer has no such key, and with a
 * RegistryError `keys_unavailable` when that cannot be known at present.
 */
export type KeySource = JWTVerifyGetKey;

export interface RemoteKeySettings {
  /** From the operator's configuration, and trusted as such. */
  url: string;
  /** Milliseconds that only run forward: a wall clock that is set back would stop refreshing. */
  clock?: () => number;
  /** For one whole fetch, from the name look-up to the last byte. */
  timeoutMs?: number;
  /** Told about every fetch that failed, because known keys go on working and nobody else would notice. */
  onOutage?: (cause: unknown) => void;
  /** Told when a set other than the kept one was fetched: what was verified with an old key may not hold any longer. */
  onChange?: () => void;
}

const refreshAfterMs = 600_000;
const awaitAfterMs = 1_200_000;
const keepMs = 86_400_000;
const cooldownMs = 30_000;
const cooldownWithoutKeysMs = 5_000;
const mostUnknown = 64;
const maxBytes = 256 * 1024;

/**
 * The keys at a JWK Set URL (RFC 7517, section 5).
 *
 * There is a kept set or there is none. None: a look-up waits for a fetch. Kept for less than ten minutes: look-ups are
 * answered from it. Older: still answered from it, and one fetch starts behind them. Older than twenty minutes, because
 * nobody asked: a key may have been withdrawn hours ago, so look-ups wait for that fetch, unless one has failed within
 * ten minutes, and are answered from the kept set if it fails. Older than a day: none.
 * A key that the set does not hold makes the look-up wait for a fetch as well. Everybody shares one fetch, and the next
 * starts no sooner than 30 s after the last (5 s while there is no set), so unknown keys cannot flood the issuer.
 * Until then nobody knows whether the issuer has published an unknown key since: the look-up is answered "not available"
 * with the time of the next fetch. A key that was missing from a fetched set is refused for as long as the set stays the
 * same, and so is any further one while 64 unknown keys are remembered: who makes keys up gets no more than that.
 *
 * jose's createRemoteJWKSet does less: it drops the set when a refresh fails and has no pause after failures.
 */
export function createRemoteKeySource(settings: RemoteKeySettings): KeySource {
  const { url, clock = () => performance.now(), timeoutMs = 3_000, onOutage, onChange } = settings;
  let kept: { find: KeySource; fetchedAt: number; text: string; ids: string[] } | undefined;
  let attemptedAt = -Infinity;
  let outage: { cause: unknown; at: number } | undefined;
  let pending: Promise<void> | undefined;
  /** Ids of keys that the kept set lacks; true once a set was fetched after a token had named the key. */
  const unknown = new Map<string, boolean>();

  async function fetchOnce() {
    attemptedAt = clock();
    try {
      const keys = usableKeys(await fetchJson(url, timeoutMs));
      const text = JSON.stringify(keys);
      const isOther = kept !== undefined && kept.text !== text;
      if (isOther) unknown.clear();
      // What was there and is not any longer was withdrawn.
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

  /** Whether a fetch was waited for; it may have failed. */
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
      if (unknown.size < mostUnknown && !unknown.has(id)) unknown.set(id, isFresh);
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

/** Neither follows redirects nor unpacks compressed bodies, so the limits hold for what is really read. */
async function fetchJson(url: string, timeoutMs: number): Promise<unknown> {
  const { statusCode, body } = await request(url, {
    signal: AbortSignal.timeout(timeoutMs),
    headers: { accept: 'application/jwk-set+json, application/json' },
    reset: true,
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`The JWK Set is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  if (statusCode !== 200) throw new Error(`The JWK Set URL answered ${statusCode}.`);
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** Leaves out keys that cannot be used, as section 5 asks. A set without any is an error page, not a set. */
function usableKeys(set: unknown): JSONWebKeySet {
  const listed = (set as Partial<JSONWebKeySet> | null)?.keys;
  const keys = Array.isArray(listed) ? listed.filter(isUsable) : [];
  if (keys.length === 0) throw new Error('The JWK Set holds no usable public key.');
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
