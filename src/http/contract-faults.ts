import type { ErrorObject } from 'ajv/dist/2020.js';
import type { Fault, FaultRule } from '../errors.js';
import { limits } from '../limits.js';
import { escapePointer } from './json.js';

/** Where a stage has a rule for the same thing, it has the same name. */
const ruleNames: Record<string, FaultRule> = {
  required: 'required',
  type: 'type',
  additionalProperties: 'member_unknown',
  enum: 'value_not_allowed',
  const: 'value_not_allowed',
  oneOf: 'value_not_allowed',
  format: 'format_wrong',
  pattern: 'format_wrong',
  minimum: 'value_out_of_range',
  maximum: 'value_out_of_range',
  minLength: 'length_wrong',
  maxLength: 'length_wrong',
  minItems: 'length_wrong',
  maxItems: 'length_wrong',
  minProperties: 'length_wrong',
};

const types: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  null: 'null',
};

interface Limits {
  type?: string | string[];
  limit?: number;
}

/** One of several forms. */
interface Form {
  enum?: unknown[];
  type?: string;
  minimum?: number;
  maximum?: number;
}

function wordsOf({ enum: values, type = '', minimum, maximum }: Form): string {
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' or ');
  const words = types[type] ?? type;
  if (minimum === undefined) return words;
  return maximum === undefined ? `${words} of at least ${minimum}` : `${words} from ${minimum} to ${maximum}`;
}

const atLeast =
  (things: string) =>
  ({ limit }: Limits) =>
    limit === 1 ? 'must not be empty' : `must have at least ${limit} ${things}`;
const atMost =
  (things: string) =>
  ({ limit }: Limits) =>
    `must have at most ${limit} ${things}`;

/** Where Ajv's own words are not for people. */
const sentences: Record<string, (params: Limits, schema: unknown) => string> = {
  type: ({ type }) =>
    `must be ${[type ?? []]
      .flat()
      .map((name) => types[name] ?? name)
      .join(' or ')}`,
  // Of the formats in requests; int64 stands in a oneOf, which is told as one.
  format: () => 'must be a date and time with an offset, such as 2026-11-20T12:00:00Z',
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  minLength: atLeast('characters'),
  maxLength: atMost('characters'),
  minItems: atLeast('entries'),
  maxItems: atMost('entries'),
  minProperties: atLeast('members'),
  oneOf: (_, schema) => `must be ${(schema as Form[]).map(wordsOf).join(' or ')}`,
};

/**
 * Ajv's errors as faults, fifty at the most. `place` is where the parameter stands whose schema was broken; without it
 * the pointer is one into a body. The branches of a `oneOf` are told as one.
 */
export function faultsOf(errors: readonly ErrorObject[], place?: 'path' | 'query' | 'header'): Fault[] {
  const whole = new Set(errors.filter(({ keyword }) => keyword === 'oneOf').map(({ instancePath }) => instancePath));
  const faults: Fault[] = [];
  for (const error of errors) {
    if (faults.length === limits.faults) break;
    if (error.keyword === 'oneOf' || !isWithin(error.instancePath, whole)) faults.push(faultOf(error, place));
  }
  return faults;
}

function isWithin(path: string, places: ReadonlySet<string>): boolean {
  for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) if (places.has(at)) return true;
  return false;
}

/** The member that says which of several forms an object has. */
function faultOfTag({ instancePath, params, schema }: ErrorObject): Fault {
  const { tag, tagValue } = params as { tag: string; tagValue: unknown };
  const pointer = `${instancePath}/${tag}`;
  if (tagValue === undefined) return { pointer, rule: 'required', detail: 'This member is required.' };
  if (typeof tagValue !== 'string') return { pointer, rule: 'type', detail: 'This must be a string.' };
  const values = Object.keys((schema as { 'x-mapping': object })['x-mapping']);
  return { pointer, rule: 'value_not_allowed', detail: `This must be one of ${values.join(', ')}.` };
}

function faultOf(error: ErrorObject, place: string | undefined): Fault {
  if (error.keyword === 'discriminator') return faultOfTag(error);
  const params = error.params as Limits & {
    missingProperty?: string;
    additionalProperty?: string;
    allowedValues?: unknown[];
  };
  const member = params.missingProperty ?? params.additionalProperty;
  const pointer = error.instancePath + (member === undefined ? '' : `/${escapePointer(member)}`);
  const detail = params.allowedValues
    ? `must be one of ${params.allowedValues.join(', ')}`
    : (sentences[error.keyword]?.(params, error.schema) ?? error.message);
  return {
    pointer: place ? `${place}${pointer}` : pointer,
    rule: ruleNames[error.keyword] ?? 'value_not_allowed',
    detail:
      params.additionalProperty !== undefined
        ? `There is no such ${place === undefined ? 'member' : 'parameter'}.`
        : params.missingProperty !== undefined
          ? 'This member is required.'
          : `This ${detail}.`,
  };
}
