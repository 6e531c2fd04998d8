import { createPublicKey } from 'node:crypto';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWK, type JWTVerifyGetKey } from 'jose';
import { request } from 'undici';
import { RegistryError } from '../errors.js';

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
 *
 * jose's createRemoteJWKSet does less: it drops the set when a refresh fails and has no pause after failures.
 */
export function createRemoteKeySource(settings: RemoteKeySettings): KeySource {
  const { url, clock = () => performance.now(), timeoutMs = 3_000, onOutage, onChange } = settings;
  let kept: { find: KeySource; fetchedAt: number; text: string } | undefined;
  let attemptedAt = -Infinity;
  let outage: { cause: unknown; at: number } | undefined;
  let pending: Promise<void> | undefined;

  async function fetchOnce() {
    attemptedAt = clock();
    try {
      const keys = usableKeys(await fetchJson(url, timeoutMs));
      const text = JSON.stringify(keys);
      const isOther = kept !== undefined && kept.text !== text;
      kept = { find: createLocalJWKSet(keys), fetchedAt: attemptedAt, text };
      outage = undefined;
      if (isOther) onChange?.();
    } catch (cause) {
      outage = { cause, at: clock() };
      onOutage?.(cause);
    }
  }

  const age = () => (kept ? clock() - kept.fetchedAt : Infinity);
  const isOut = () => outage !== undefined && clock() - outage.at < refreshAfterMs;

  async function refresh() {
    const cooledDown = clock() - attemptedAt >= (kept ? cooldownMs : cooldownWithoutKeysMs);
    if (!pending && cooledDown) pending = fetchOnce().finally(() => (pending = undefined));
    await pending;
  }

  return async (header, token) => {
    if (age() >= keepMs) kept = undefined;
    if (!kept || (age() >= awaitAfterMs && !isOut())) await refresh();
    else if (age() >= refreshAfterMs) void refresh();
    try {
      if (kept) return await kept.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await refresh();
      if (kept && !outage) return await kept.find(header, token);
    }
    throw new RegistryError('keys_unavailable', 'The keys of the token issuer cannot be fetched at the moment.', {
      cause: outage?.cause,
      retryAfterSeconds: 5,
    });
  };
}

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
