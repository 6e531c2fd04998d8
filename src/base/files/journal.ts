import { createReadStream } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readLines } from '../formats/lines.js';
import { lockFolder } from './folder-lock.js';
import { makeFolder } from './make-folder.js';

export interface JournalSettings {
  path: string;
  /** The error for a second process. */
  inUse: (owner: number) => Error;
  /** Writes what is still needed of the file, as it is after the last append that called `onWritten`. */
  compact: (write: AppendLines) => Promise<void>;
  /** Bytes. A smaller file is not compacted (1 MiB if absent). A larger one is when it has doubled. */
  compactAbove?: number | undefined;
  /** A compaction failed. The file grows until the next one. */
  onFault: (error: unknown) => void;
}

/** JSON, without line ends. */
export type AppendLines = (lines: readonly string[]) => Promise<void>;

export interface AppendOptions {
  /** Waits for the disk. Without it, a power cut may take the lines away, and nothing else. */
  synced?: boolean;
  /** Called when the lines are there, before anything else happens to the file. */
  onWritten?: () => void;
}

/** Whether the file may end after a line: not at all, here, or here as what a compaction left. */
export type JournalEnding = 'open' | 'whole' | 'compacted';

/** Appends that are written together. */
interface Group {
  lines: string[];
  onWritten: Array<() => void>;
  synced: boolean;
  /** The number of failures before it. */
  failures: number;
  done: Promise<void>;
}

/**
 * A file of JSON lines that grows at its end and belongs to one process. Its states:
 *
 *   whole      ends after a complete line
 *   torn       an append failed, or the process was killed in the middle of one: part of a line may be at the end. The
 *              next append cuts it off first, so that it never comes before a later line
 *   uncertain  the disk reported that it could not store earlier appends. A later success wouldn't mean that it has them
 *              now, so the next append writes a new file first
 *
 * What `append` resolved for is never lost. If it rejects, its lines are not there, and neither are those of later calls
 * that were waiting: a file without gaps. Only a process that ends in the state uncertain may leave them.
 *
 * A compaction and any other new content is written beside the file, and replaces it once the disk has it.
 */
export class Journal {
  readonly #settings: JournalSettings;
  readonly #release: () => Promise<void>;
  #file: FileHandle;
  /** Bytes of whole lines. */
  #end = 0;
  #compactedEnd = 0;
  #isTorn = false;
  #isUncertain = false;
  /** Whether the disk has the name of the file. */
  #isPlaced = false;
  #failures = 0;
  #failure: unknown;
  /** Takes what is appended now. */
  #next: Group | undefined;
  #work: Promise<unknown> = Promise.resolve();

  private constructor(settings: JournalSettings, file: FileHandle, release: () => Promise<void>) {
    [this.#settings, this.#file, this.#release] = [settings, file, release];
  }

  /** Throws `inUse`, and for a folder that is not writable. */
  static async open(settings: JournalSettings): Promise<Journal> {
    const { path, inUse } = settings;
    await makeFolder(dirname(path));
    const release = await lockFolder(path, (_, owner) => inUse(owner));
    try {
      await Promise.all(['new', 'compact'].map((ending) => rm(`${path}.${ending}`, { force: true })));
      return new Journal(settings, await open(path, 'a', 0o600), release);
    } catch (error) {
      await release();
      throw error;
    }
  }

  /**
   * Calls `take` with each line up to the first that is torn. What is behind the last line where the file may end is
   * dropped. To be called once, before the first append.
   */
  async read(take: (line: unknown, text: string) => JournalEnding): Promise<void> {
    let at = 0;
    reading: for await (const lines of readLines(createReadStream(this.#settings.path, { highWaterMark: 262_144 }))) {
      for (const text of lines) {
        const line = parse(text);
        if (line === undefined) break reading;
        at += Buffer.byteLength(text) + 1;
        const ending = take(line, text);
        if (ending !== 'open') this.#end = at;
        if (ending === 'compacted') this.#compactedEnd = at;
      }
    }
    this.#isTorn = (await this.#file.stat()).size > this.#end;
  }

  append(lines: readonly string[], { synced = false, onWritten }: AppendOptions = {}): Promise<void> {
    const group = this.#next ?? this.#startGroup();
    for (const line of lines) group.lines.push(line);
    if (onWritten !== undefined) group.onWritten.push(onWritten);
    group.synced ||= synced;
    return group.done;
  }

  /** A new content. Lines that are appended meanwhile don't get into it. */
  begin(): Promise<JournalDraft> {
    return JournalDraft.create(`${this.#settings.path}.new`);
  }

  /** If it rejects, the file is as before. */
  replace(draft: JournalDraft): Promise<void> {
    return this.#enqueue(() => this.#replace(draft));
  }

  async close(): Promise<void> {
    try {
      await this.#enqueue(() => this.#file.close());
    } finally {
      await this.#release();
    }
  }

  #enqueue<T>(task: () => Promise<T>): Promise<T> {
    this.#next = undefined;
    const done = this.#work.then(task);
    this.#work = done.catch(() => undefined);
    return done;
  }

  #startGroup(): Group {
    const group: Omit<Group, 'done'> = { lines: [], onWritten: [], synced: false, failures: this.#failures };
    const done = this.#enqueue(() => this.#write(group));
    return (this.#next = Object.assign(group, { done }));
  }

  async #write(group: Omit<Group, 'done'>): Promise<void> {
    if (this.#next === group) this.#next = undefined;
    if (group.failures < this.#failures) throw this.#failure;
    try {
      const bytes = bytesOf(group.lines);
      if (this.#isUncertain) await this.#compact();
      if (this.#isTorn) await this.#file.truncate(this.#end);
      this.#isTorn = true;
      await this.#file.appendFile(bytes);
      if (group.synced) await this.#sync();
      this.#isTorn = false;
      this.#end += bytes.length;
    } catch (error) {
      this.#failures += 1;
      this.#failure = error;
      this.#next = undefined;
      throw error;
    }
    for (const onWritten of group.onWritten) onWritten();
    const { compactAbove = 1_048_576, onFault } = this.#settings;
    if (this.#end <= Math.max(2 * this.#compactedEnd, compactAbove)) return;
    await this.#compact().catch((error: unknown) => {
      this.#compactedEnd = this.#end;
      onFault(error);
    });
  }

  async #sync(): Promise<void> {
    this.#isUncertain = true;
    await this.#file.datasync();
    if (!this.#isPlaced) {
      const folder = await open(dirname(this.#settings.path));
      await folder.sync().finally(() => folder.close());
    }
    this.#isPlaced = true;
    this.#isUncertain = false;
  }

  async #compact(): Promise<void> {
    const draft = await JournalDraft.create(`${this.#settings.path}.compact`);
    try {
      await this.#settings.compact((lines) => draft.write(lines));
      await this.#replace(draft);
    } catch (error) {
      await draft.discard();
      throw error;
    }
  }

  async #replace({ file, path, bytes }: JournalDraft): Promise<void> {
    await file.datasync();
    await rename(path, this.#settings.path);
    const old = this.#file;
    this.#file = file;
    this.#end = this.#compactedEnd = bytes;
    this.#isTorn = this.#isUncertain = this.#isPlaced = false;
    await old.close().catch(this.#settings.onFault);
  }
}

/** A file beside the journal. */
export class JournalDraft {
  bytes = 0;

  private constructor(
    readonly path: string,
    readonly file: FileHandle,
  ) {}

  static async create(path: string): Promise<JournalDraft> {
    await rm(path, { force: true });
    return new JournalDraft(path, await open(path, 'ax', 0o600));
  }

  async write(lines: readonly string[]): Promise<void> {
    const bytes = bytesOf(lines);
    await this.file.appendFile(bytes);
    this.bytes += bytes.length;
  }

  /** Frees its space: the disk may be full. */
  async discard(): Promise<void> {
    await this.file.close().finally(() => rm(this.path, { force: true }));
  }
}

function bytesOf(lines: readonly string[]): Buffer {
  return Buffer.from(lines.map((line) => `${line}\n`).join(''));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
