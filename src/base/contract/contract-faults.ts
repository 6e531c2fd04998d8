import type { ErrorObject } from 'ajv/dist/2020.js';
import type { Fault, FaultRule } from '../errors.js';
import { limits } from '../limits.js';
import { anyOf, contractTexts, typeTexts } from '../texts/requests.js';
import { textOf, type Text } from '../texts/text.js';
import { escapePointer } from '../formats/json.js';
import { ownNameOf } from './neighbour-names.js';

/** A folder that checks the same thing uses the same name. */
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

interface Limits {
  type?: string | string[];
  limit?: number;
  pattern?: string;
}

/** One of several forms. */
interface Form {
  enum?: unknown[];
  type?: string;
  minimum?: number;
  maximum?: number;
}

const typeText = (name: string): Text => typeTexts[name] ?? { en: name, nl: name };

function formText({ enum: values, type = '', minimum, maximum }: Form): Text {
  if (values !== undefined) return anyOf(values.map((value) => textOf(() => JSON.stringify(value))));
  const words = typeText(type);
  if (minimum === undefined) return words;
  return maximum === undefined ? contractTexts.atLeast(words, minimum) : contractTexts.between(words, minimum, maximum);
}

const tooFew =
  (things: 'characters' | 'entries' | 'members') =>
  ({ limit = 0 }: Limits) =>
    limit === 1 ? contractTexts.empty : contractTexts.tooFew(limit, things);
const tooMany =
  (things: 'characters' | 'entries') =>
  ({ limit = 0 }: Limits) =>
    contractTexts.tooMany(limit, things);

/** By Ajv's keyword. */
const details: Record<string, (params: Limits, schema: unknown) => Text> = {
  type: ({ type }) => contractTexts.mustBe(anyOf([type ?? []].flat().map(typeText))),
  // The only format in requests. int64 is inside a oneOf, which is one fault.
  format: () => contractTexts.mustBe(contractTexts.timestamp),
  pattern: ({ pattern = '' }) => contractTexts.pattern(pattern),
  minimum: ({ limit = 0 }) => contractTexts.minimum(limit),
  maximum: ({ limit = 0 }) => contractTexts.maximum(limit),
  minLength: tooFew('characters'),
  maxLength: tooMany('characters'),
  minItems: tooFew('entries'),
  maxItems: tooMany('entries'),
  minProperties: tooFew('members'),
  oneOf: (_, schema) => contractTexts.mustBe(anyOf((schema as Form[]).map(formText))),
};

/**
 * Ajv's errors as faults, at most fifty. `place` says where the faulty parameter is; without it the pointer is one into
 * a body. A broken `oneOf` is one fault, whatever its branches report.
 */
export function faultsOf(errors: readonly ErrorObject[], place?: 'path' | 'query' | 'header'): Fault[] {
  const whole = new Set(errors.filter(({ keyword }) => keyword === 'oneOf').map(({ instancePath }) => instancePath));
  const faults: Fault[] = [];
  for (const error of errors) {
    if (faults.length === limits.faults) break;
    const { keyword, instancePath } = error;
    const above = instancePath.slice(0, Math.max(0, instancePath.lastIndexOf('/')));
    if (!isWithin(keyword === 'oneOf' ? above : instancePath, whole)) faults.push(faultOf(error, place));
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
  if (tagValue === undefined) return { pointer, rule: 'required', detail: contractTexts.required('member') };
  if (typeof tagValue !== 'string') return { pointer, rule: 'type', detail: contractTexts.mustBe(typeText('string')) };
  const values = Object.keys((schema as { 'x-mapping': object })['x-mapping']);
  return { pointer, rule: 'value_not_allowed', detail: contractTexts.mustBeOneOf(values) };
}

function faultOf(error: ErrorObject, place: string | undefined): Fault {
  if (error.keyword === 'discriminator') return faultOfTag(error);
  const params = error.params as Limits & {
    missingProperty?: string;
    additionalProperty?: string;
    allowedValues?: unknown[];
  };
  const what = place === undefined ? 'member' : 'parameter';
  const faultAt = (member: string | undefined, detail: Text): Fault => {
    const pointer = error.instancePath + (member === undefined ? '' : `/${escapePointer(member)}`);
    return {
      pointer: place ? `${place}${pointer}` : pointer,
      rule: ruleNames[error.keyword] ?? 'value_not_allowed',
      detail,
    };
  };
  const { missingProperty, additionalProperty, allowedValues } = params;
  if (missingProperty !== undefined) return faultAt(missingProperty, contractTexts.required(what));
  if (additionalProperty !== undefined) {
    const known = Object.keys((error.parentSchema?.['properties'] as object | undefined) ?? {});
    const ownName = ownNameOf(additionalProperty, known);
    const detail = ownName === undefined ? contractTexts.unknown(what) : contractTexts.called(what, ownName);
    return faultAt(additionalProperty, detail);
  }
  if (allowedValues !== undefined) return faultAt(undefined, contractTexts.mustBeOneOf(allowedValues));
  return faultAt(undefined, details[error.keyword]?.(params, error.schema) ?? contractTexts.notAllowed);
}
