import { spend, type CesqlRun } from './expression.js';

/** A parsed pattern is UTF-16 units, and these two values for the wildcards. */
const one = -1;
const many = -2;

/**
 * The parts of a pattern (section 3.4.3): `_`, `%`, and literal characters. A backslash before `_` or `%` makes it
 * literal; before any other character the backslash itself is literal. `%%` means the same as `%`.
 */
function readPattern(pattern: string): number[] {
  const units: number[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern.charAt(at);
    const following = pattern.charAt(at + 1);
    if (character === '\\' && (following === '%' || following === '_')) {
      units.push(following.charCodeAt(0));
      at += 1;
    } else if (character === '_') units.push(one);
    else if (character !== '%') units.push(character.charCodeAt(0));
    else if (units.at(-1) !== many) units.push(many);
  }
  return units;
}

/** The characters that every matching value has: all of them, or those at its start and at its end. */
export function likeEnds(pattern: string): { exact: string } | { prefix: string; suffix: string } {
  const units = readPattern(pattern);
  const first = units.findIndex((unit) => unit < 0);
  if (first === -1) return { exact: textOfUnits(units) };
  const last = units.findLastIndex((unit) => unit < 0);
  return { prefix: textOfUnits(units.slice(0, first)), suffix: textOfUnits(units.slice(last + 1)) };
}

function textOfUnits(units: number[]): string {
  return units.map((unit) => String.fromCharCode(unit)).join('');
}

type Matches = (text: string, run: CesqlRun) => boolean;

/**
 * A matcher for the pattern. Plain values, prefixes and suffixes use the comparisons of the JS engine. Each kind has
 * its own factory function, so that its closure holds only what it needs: there may be very many of them.
 */
export function compileLike(pattern: string): Matches {
  const ends = likeEnds(pattern);
  if ('exact' in ends) return equalTo(ends.exact);
  const units = readPattern(pattern);
  return isPlain(ends, units) ? between(ends.prefix, ends.suffix) : through(units);
}

/** Whether matching needs more than the ends of a text. */
export function readsAll(pattern: string): boolean {
  const ends = likeEnds(pattern);
  return !('exact' in ends) && !isPlain(ends, readPattern(pattern));
}

function isPlain({ prefix, suffix }: { prefix: string; suffix: string }, units: readonly number[]): boolean {
  return units.length === prefix.length + suffix.length + 1 && !units.includes(one);
}

function equalTo(exact: string): Matches {
  return (text) => text === exact;
}

function between(prefix: string, suffix: string): Matches {
  const least = prefix.length + suffix.length;
  return (text) => text.length >= least && text.startsWith(prefix) && text.endsWith(suffix);
}

function through(units: readonly number[]): Matches {
  return (text, run) => matchUnits(units, text, run);
}

/**
 * Two pointers: after a mismatch, the last `%` consumes one more unit; an earlier `%` is never retried. The time is at
 * most the product of the lengths, and the steps of the run limit it. Only `_` handles surrogate pairs: half a pair
 * equals no character of a pattern, and a match of `_` from the middle of a pair also exists from its start.
 */
function matchUnits(units: readonly number[], text: string, run: CesqlRun): boolean {
  let at = 0;
  let place = 0;
  let star = -1;
  let mark = 0;
  let steps = 0;
  while (at < text.length) {
    steps += 1;
    if (steps > run.steps) return spend(run, steps, 'generic');
    const wanted = units[place];
    if (wanted === many) {
      star = place;
      mark = at;
      place += 1;
      // A trailing `%` matches the rest of the text.
      if (place === units.length) break;
    } else if (wanted === text.charCodeAt(at)) {
      at += 1;
      place += 1;
    } else if (wanted === one) {
      at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
      place += 1;
    } else if (star !== -1) {
      mark += 1;
      at = mark;
      place = star + 1;
    } else break;
  }
  run.steps -= steps;
  if (units[place] === many) place += 1;
  return place === units.length && (at === text.length || units[place - 1] === many);
}
