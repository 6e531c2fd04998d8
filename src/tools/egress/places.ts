import { RegistryError } from '../../base/errors.js';

/**
 * Room for deliveries in progress. Where there are several callers, one has at most half of it. To one webhook, a caller
 * has at most half of its own. So neither a busy caller nor a slow webhook stops the others.
 */
export class Places {
  readonly #taken = new Map<string, number>();
  readonly #max: number;
  readonly #ofCaller: number;

  constructor(max: number, areSeveralCallers: boolean) {
    this.#max = max;
    this.#ofCaller = areSeveralCallers ? Math.ceil(max / 2) : max;
  }

  taken(): number {
    return this.#of('all');
  }

  /** Returns what gives the place back. RegistryError `egress_full`. */
  take(caller: string, origin: string, sink: string): () => void {
    const limits: ReadonlyArray<[key: string, max: number, whose: string]> = [
      ['all', this.#max, 'that this process takes'],
      [`caller ${caller}`, this.#ofCaller, 'that one caller may have'],
      [`pair ${caller} ${origin} ${sink}`, Math.ceil(this.#ofCaller / 2), 'that one caller may have to one webhook'],
    ];
    for (const [key, max, whose] of limits) {
      if (this.#of(key) < max) continue;
      const detail = `${max} deliveries are in progress, all ${whose}.`;
      throw new RegistryError('egress_full', detail, { retryAfterSeconds: 1 });
    }
    for (const [key] of limits) this.#taken.set(key, this.#of(key) + 1);
    return () => {
      for (const [key] of limits) {
        const left = this.#of(key) - 1;
        if (left > 0) this.#taken.set(key, left);
        else this.#taken.delete(key);
      }
    };
  }

  #of(key: string): number {
    return this.#taken.get(key) ?? 0;
  }
}
