import { RegistryError } from '../../base/errors.js';
import type { ContextAttributes } from '../../events/context-attributes.js';
import { priceTexts } from '../../base/texts/filters.js';
import type { Predicate } from '../filters/predicate.js';

// Work is counted in steps. One step is the time to compare one character, about three nanoseconds; other work counts
// as many steps as its time is worth. Unlike a clock, steps are the same on each machine and in each test.

/** The steps that are left before others get a turn (turns.ts). */
export interface Slice {
  left: number;
}

/** About two milliseconds. A predicate is never interrupted, and has a million steps at most. */
export const sliceSteps = 500_000;

/** The default for one message: a second or two. */
export const usualBudget = 500_000_000;

/** To read a message and validate its events. */
export const stepsPerByte = 2;

/** Filters up to this limit are ordinary and cost nothing, however many subscriptions have them. */
const freeSteps = 64;
/**
 * From this limit on, the result of a predicate is cached until the event is done, and its subscription is recorded.
 */
const notedSteps = 512;

/**
 * The cost of one message. The filters of all its events share a budget; all messages share the slice.
 *
 *   running   until the event is done, or the slice is used up
 *   stopped   the slice is used up within an event, and the call returned nothing. Make the same call in a new slice: it
 *             continues where it stopped, or from the beginning if the index has changed, with the cached results.
 *             Each slice makes progress.
 *   over      the budget is exceeded
 */
export class Work {
  /** Steps of the budget that are left. */
  left: number;
  /** Set when a call returned nothing because the slice is used up. */
  isStopped = false;
  /** Steps of predicates since the last reset. */
  steps = 0;
  /** State of the index that was stopped. */
  suspended: unknown;
  readonly slice: Slice;
  readonly #budget: number;
  #results: Map<Predicate, boolean> | undefined;
  /** By subscription. */
  #costs: Map<string, number> | undefined;
  #canStop = true;

  constructor(budget = Infinity, slice: Slice = { left: Infinity }) {
    this.#budget = budget;
    this.left = budget;
    this.slice = slice;
  }

  /** Steps that filters took of the budget; undefined without one. */
  get spent(): number | undefined {
    return this.#budget === Infinity ? undefined : this.#budget - this.left;
  }

  get isOut(): boolean {
    return this.slice.left < 0 && this.#canStop;
  }

  get isOver(): boolean {
    return this.left < 0;
  }

  /** Call this when another slice begins. */
  resume(): void {
    this.isStopped = false;
  }

  /** Call this when the event starts again: it must get further than before. */
  restart(): void {
    this.#canStop = false;
  }

  /** Drops the state of this event. */
  endEvent(): void {
    this.#canStop = true;
    this.#results = undefined;
    this.suspended = undefined;
  }

  /** Whether the predicate matches. The result is invalid if it stopped the work. */
  test(predicate: Predicate, event: ContextAttributes): boolean {
    const known = this.#results?.get(predicate);
    if (known !== undefined) return known;
    if (this.isOut) {
      this.isStopped = true;
      return false;
    }
    const holds = predicate.test(event);
    const { steps } = predicate;
    this.steps += steps;
    this.slice.left -= steps;
    if (steps >= notedSteps) {
      this.#canStop = true;
      (this.#results ??= new Map()).set(predicate, holds);
    }
    return holds;
  }

  /** Takes the steps of a filter from the budget. True if the filter's subscription is worth recording. */
  pay(steps: number): boolean {
    if (steps <= freeSteps) return false;
    this.left -= steps;
    if (this.left < 0) this.isStopped = true;
    return steps >= notedSteps && this.#budget !== Infinity;
  }

  note(subscription: string, steps: number): void {
    this.#costs ??= new Map();
    this.#costs.set(subscription, (this.#costs.get(subscription) ?? 0) + steps);
  }

  /** The error for work that is over its budget. */
  tooExpensive(): RegistryError {
    const [worst] = [...(this.#costs ?? [])].sort(([, one], [, other]) => other - one);
    const detail = priceTexts.tooExpensiveForMessage(this.#budget, worst?.[0]);
    if (worst === undefined) return new RegistryError('match_too_expensive', detail);
    const [id, steps] = worst;
    return new RegistryError('match_too_expensive', detail, {
      faults: [{ pointer: `subscription/${id}`, rule: 'too_expensive', detail: priceTexts.ofWorst(steps) }],
      // For the log: senders may retry for a long time before anyone looks into it.
      cause: new Error(`The filters of subscription ${id} took ${steps} of ${this.#budget} steps for one message.`),
    });
  }
}
