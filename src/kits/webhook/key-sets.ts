import { utf8Text } from '../../base/formats/bytes.js';
import { byKeyid, keysIn, type PublishedKey } from '../../signatures/keys.js';
import type { ReadResult } from './callback-call.js';

/** Seconds for which a document is used without another look, whatever its Cache-Control says. */
const freshness = { min: 60, usual: 300, max: 3_600 };
/** Seconds between two reads of one document: an unknown key or an outage leads to no more of them. */
const pauseSeconds = 10;
/** Seconds for which old keys are used while the document cannot be read. */
const staleSeconds = 3_600;
/** Above it, one is forgotten: that was never read, or else that was used the longest time ago. */
const maxDocuments = 1_000;
/** At once, of all documents: names that strangers invent lead to no more requests than that. */
const maxReads = 32;

/** The keys of an origin cannot be read at present. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
}

/** Times are in seconds. */
interface Document {
  keys: ReadonlyMap<string, PublishedKey>;
  /** When the last read ended, well or not. */
  triedAt: number;
  /** When the keys were read; before the first time long ago, as `freshUntil` is. */
  readAt: number;
  freshUntil: number;
  reading: Promise<void> | undefined;
}

interface KeySetSettings {
  read: (url: string) => Promise<ReadResult>;
  /** Requests may wait for the read that another one has begun. */
  sharesReads: boolean;
  onFault: (error: Error) => void;
  /** Seconds since 1970. */
  now?: () => number;
}

/** The JSON Web Key Sets of origins, by their URLs, in memory. */
export class KeySets {
  readonly #documents = new Map<string, Document>();
  readonly #settings: KeySetSettings;
  readonly #now: () => number;
  #reads = 0;

  constructor(settings: KeySetSettings) {
    this.#settings = settings;
    this.#now = settings.now ?? (() => Date.now() / 1_000);
  }

  /**
   * Undefined only if the document, read since this call, has no such key: it may be a new one, and a sender takes a
   * refusal as final. Rejects with KeysUnavailable.
   */
  async keyOf(url: string, keyid: string): Promise<PublishedKey | undefined> {
    const document = this.#documentOf(url);
    const startedAt = this.#now();
    if (startedAt >= document.freshUntil) await this.#refresh(url, document);
    if (!document.keys.has(keyid) && document.readAt < startedAt) await this.#refresh(url, document);
    const key = document.keys.get(keyid);
    if (key !== undefined && this.#now() < document.freshUntil + staleSeconds) return key;
    if (key === undefined && document.readAt >= startedAt) return undefined;
    throw new KeysUnavailable(`The keys of the origin cannot be read at ${url} at present.`);
  }

  /** The map is in the order of use. */
  #documentOf(url: string): Document {
    const known = this.#documents.get(url);
    if (known !== undefined) this.#documents.delete(url);
    else if (this.#documents.size >= maxDocuments) this.#documents.delete(this.#leastUseful());
    const never = -Infinity;
    const document = known ?? {
      keys: new Map(),
      triedAt: never,
      readAt: never,
      freshUntil: never,
      reading: undefined,
    };
    this.#documents.set(url, document);
    return document;
  }

  #leastUseful(): string {
    for (const [url, { readAt, reading }] of this.#documents) {
      if (readAt === -Infinity && reading === undefined) return url;
    }
    return this.#documents.keys().next().value!;
  }

  async #refresh(url: string, document: Document): Promise<void> {
    if (document.reading !== undefined) return document.reading;
    if (this.#now() < document.triedAt + pauseSeconds || this.#reads >= maxReads) return;
    this.#reads += 1;
    const reading = this.#read(url, document).finally(() => {
      this.#reads -= 1;
      document.triedAt = this.#now();
      document.reading = undefined;
    });
    if (this.#settings.sharesReads) document.reading = reading;
    return reading;
  }

  async #read(url: string, document: Document): Promise<void> {
    const startedAt = this.#now();
    const result = await this.#settings.read(url);
    const keys = result.kind === 'read' ? await keysIn(utf8Text(result.body)) : undefined;
    if (result.kind === 'read' && keys !== undefined) {
      document.keys = byKeyid(keys);
      document.readAt = startedAt;
      document.freshUntil = startedAt + secondsOf(result.cacheControl);
      return;
    }
    const coding = result.kind === 'read' && result.coding !== undefined ? ` (Content-Encoding: ${result.coding})` : '';
    const why = result.kind === 'failed' ? result.detail : `it is no JSON Web Key Set${coding}`;
    this.#settings.onFault(new Error(`The keys at ${url} cannot be read: ${why}.`));
  }
}

function secondsOf(cacheControl: string | undefined): number {
  const directives = (cacheControl ?? '').split(',').map((each) => each.trim().toLowerCase());
  if (directives.some((each) => /^no-(?:store|cache)(?:=|$)/.test(each))) return freshness.min;
  const stated = directives.map((each) => /^max-age="?(\d{1,9})"?$/.exec(each)?.[1]).find((each) => each !== undefined);
  const seconds = stated === undefined ? freshness.usual : Number(stated);
  return Math.min(Math.max(seconds, freshness.min), freshness.max);
}
