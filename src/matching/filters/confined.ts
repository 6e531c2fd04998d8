import { escapePointer } from '../../base/formats/json.js';
import type { Filter } from './filter.js';

/** The texts that one attribute can have: one, or all that begin with it. */
type Texts = { exact: string } | { prefix: string };

export type Allows = (texts: Texts) => boolean;

/**
 * Whether every event that a filter matches has the attribute, with a text that is allowed. It follows from the filter
 * alone, and errs on the safe side: only `exact` and `prefix` say which texts an attribute can have. `suffix`, `not` and
 * `sql` confine nothing, although they may. An `all` confines if one of its filters does, an `any` if each does.
 */
export function isConfined(filter: Filter, attribute: string, allows: Allows): boolean {
  if ('all' in filter) return filter.all.some((nested) => isConfined(nested, attribute, allows));
  if ('any' in filter) return filter.any.every((nested) => isConfined(nested, attribute, allows));
  const leaf = leafOf(filter, attribute);
  return leaf !== undefined && allows(leaf.texts);
}

/**
 * The place in a filter that comes closest to confining the attribute, as a JSON pointer from the filter: a leaf about
 * the attribute whose text is not allowed, or a filter of an `any` that says nothing about it. Undefined if the filter
 * does not mention the attribute.
 */
export function unconfinedPlace(filter: Filter, attribute: string, allows: Allows): string | undefined {
  if ('all' in filter) return firstPlace(filter.all, '/all', attribute, allows);
  if ('any' in filter) {
    const place = firstPlace(filter.any, '/any', attribute, allows);
    if (place !== undefined) return place;
    const isMentioned = filter.any.some((nested) => isConfined(nested, attribute, allows));
    const silent = filter.any.findIndex((nested) => !isConfined(nested, attribute, allows));
    return isMentioned && silent !== -1 ? `/any/${silent}` : undefined;
  }
  const leaf = leafOf(filter, attribute);
  return leaf === undefined || allows(leaf.texts) ? undefined : `/${leaf.dialect}/${escapePointer(attribute)}`;
}

function firstPlace(filters: readonly Filter[], at: string, attribute: string, allows: Allows): string | undefined {
  for (const [index, filter] of filters.entries()) {
    const place = unconfinedPlace(filter, attribute, allows);
    if (place !== undefined) return `${at}/${index}${place}`;
  }
  return undefined;
}

function leafOf(filter: Filter, attribute: string): { dialect: string; texts: Texts } | undefined {
  if ('exact' in filter) {
    const exact = own(filter.exact, attribute);
    return exact === undefined ? undefined : { dialect: 'exact', texts: { exact } };
  }
  if ('prefix' in filter) {
    const prefix = own(filter.prefix, attribute);
    return prefix === undefined ? undefined : { dialect: 'prefix', texts: { prefix } };
  }
  return undefined;
}

function own(attributes: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(attributes, name) ? attributes[name] : undefined;
}
