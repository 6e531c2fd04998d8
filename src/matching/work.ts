import { RegistryError } from '../errors.js';
import type { ContextAttributes } from '../events/context-attributes.js';
import type { Predicate } from './predicate.js';

// Work is counted in steps. A step is about what it takes to compare one character, or three nanoseconds; what does
// something else takes as many as it lasts. Steps, unlike a clock, are the same on each machine and in each test.

/** What may still be done before others get a turn (turns.ts). */
export interface Slice {
  left: number;
}

/** About two milliseconds. A predicate is never interrupted, and has a million steps at most. */
export const sliceSteps = 500_000;

/** For one message, unless something else is set: a second or two. */
export const usualBudget = 500_000_000;

/** To read a message and to judge its events. */
export const stepsPerByte = 2;

/** Filters that take no more are ordinary, and do not count, however many subscriptions have them. */
const freeSteps = 64;
/** From here on the result of a predicate is kept until the event is done, and who took the steps is noted. */
const notedSteps = 512;

/**
 * What one message costs. The filters of all its events share a budget; they also share the slice, with all messages.
 *
 *   running   until the event is done, or the slice is used up
 *   stopped   the slice is used up within an event. What was asked returned nothing. Ask the same again in a new slice:
 *             it goes on where it stopped, or from the beginning where the index has changed, with the results that are
 *             kept. Each slice makes progress.
 *   over      less than nothing of the budget is left
 */
export class Work {
  /** Of the budget. */
  left: number;
  /** Set when something returned nothing because the slice is used up. */
  isStopped = false;
  /** Of predicates since the last look. */
  steps = 0;
  /** Belongs to the index that was stopped. */
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

  get isOut(): boolean {
    return this.slice.left < 0 && this.#canStop;
  }

  get isOver(): boolean {
    return this.left < 0;
  }

  /** Another slice has begun. */
  resume(): void {
    this.isStopped = false;
  }

  /** The event begins anew: it must get further than it got before. */
  restart(): void {
    this.#canStop = false;
  }

  /** Nothing of this event is needed any more. */
  endEvent(): void {
    this.#canStop = true;
    this.#results = undefined;
    this.suspended = undefined;
  }

  /** Whether the predicate holds. Means nothing where the work is stopped by it. */
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

  /** Takes from the budget what a filter took. True if it is worth being noted whose filter it is. */
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

  /** For work that is over. */
  tooExpensive(): RegistryError {
    const [worst] = [...(this.#costs ?? [])].sort(([, one], [, other]) => other - one);
    const limit = this.#budget.toLocaleString('en');
    if (worst === undefined) {
      return new RegistryError(
        'match_too_expensive',
        `The filters take more than ${limit} steps for this message. Send fewer events at once, or shorter attributes.`,
      );
    }
    const [id, steps] = worst;
    const detail = `Its filters took ${steps.toLocaleString('en')} steps, more than those of any other subscription.`;
    return new RegistryError(
      'match_too_expensive',
      `The filters take more than ${limit} steps for this message, those of subscription ${id} the most of them. ` +
        'Send fewer events at once, or shorter attributes. An admin sees whose subscription it is, and can suspend it.',
      {
        faults: [{ pointer: `subscription/${id}`, rule: 'too_expensive', detail }],
        // For the log: senders may retry for long before anyone asks why.
        cause: new Error(`The filters of subscription ${id} took ${steps} of ${this.#budget} steps for one message.`),
      },
    );
  }
}
