// HTTP Message Signatures (RFC 9421), with what every JavaScript runtime has: the base that is signed, the fields that
// carry it, and reading them back. Which components a signature must cover, and which key is trusted, is for the callers.

import {
  parseDictionary,
  parseItem,
  serializeDictionary,
  serializeInnerList,
  serializeItem,
  type BareItem,
  type Dictionary,
  type InnerList,
  type Item,
  type Parameters,
} from 'structured-headers';
import { utf8Bytes } from '../base/formats/bytes.js';

/** A field's lines, joined with a comma and trimmed (section 2.1); undefined if it is absent. The name is in lower case. */
export type FieldOf = (name: string) => string | undefined;

export interface SignedRequest {
  method: string;
  /** Absolute, exactly as it is on the wire: `https://host/path?query`. */
  url: string;
  fieldOf: FieldOf;
}

/** A response, with the request that it is the response to. */
export interface SignedResponse {
  status: number;
  fieldOf: FieldOf;
  request: SignedRequest;
}

export type SignedMessage = SignedRequest | SignedResponse;

/** A covered component (section 2): a field by its name in lower case, or a derived one such as `@method`. */
export interface Component {
  name: string;
  /** A member of a dictionary field (section 2.1.2). */
  key?: string;
  /** Of the request, in the signature of a response (section 2.4). */
  req?: true;
}

/** Section 2.3. Times are seconds since 1970. */
export interface SignatureParameters {
  created?: number;
  expires?: number;
  nonce?: string;
  alg?: string;
  keyid?: string;
  tag?: string;
}

/** Why a signature says nothing: the message lacks what it covers, or its fields cannot be read. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError';
}

export interface ReadSignature {
  label: string;
  components: readonly Component[];
  parameters: SignatureParameters;
  signature: Uint8Array<ArrayBuffer>;
  /** What was signed. Throws SignatureError if the message does not have what the signature covers. */
  base(message: SignedMessage): Uint8Array<ArrayBuffer>;
}

/** The two fields of a signature, once its base is signed (section 4). */
export interface PreparedSignature {
  base: Uint8Array<ArrayBuffer>;
  fields(signature: Uint8Array): { 'Signature-Input': string; Signature: string };
}

/** Section 3.1. Throws SignatureError if the message does not have a component. */
export function prepareSignature(
  label: string,
  components: readonly Component[],
  parameters: SignatureParameters,
  message: SignedMessage,
): PreparedSignature {
  const input: InnerList = [components.map(itemOf), new Map<string, BareItem>(Object.entries(parameters))];
  return {
    base: baseOf(components, input, message),
    fields: (signature) => ({
      'Signature-Input': serializeDictionary(new Map([[label, input]])),
      Signature: serializeDictionary(new Map<string, Item>([[label, [signature, new Map()]]])),
    }),
  };
}

/**
 * The signatures of a message, in order; empty without any. With `tag`, those that are meant for something else are left
 * out, such as one that a proxy added: they may have what this code does not read. Throws SignatureError for fields that
 * cannot be read.
 */
export function readSignatures(fieldOf: FieldOf, tag?: string): ReadSignature[] {
  const [inputs, signatures] = [fieldOf('signature-input'), fieldOf('signature')];
  if (inputs === undefined && signatures === undefined) return [];
  if (inputs === undefined || signatures === undefined) {
    throw new SignatureError(`There is a Signature${inputs === undefined ? '' : '-Input'} without the other field.`);
  }
  const values = dictionaryOf('Signature', signatures);
  return Array.from(dictionaryOf('Signature-Input', inputs)).flatMap(([label, input]) => {
    const meantFor: unknown = input[1].get('tag');
    if (tag !== undefined && meantFor !== undefined && meantFor !== tag) return [];
    try {
      return [readSignature(label, input, values.get(label)?.[0])];
    } catch (error) {
      // Without a tag, it may be one of those.
      if (tag !== undefined && meantFor === undefined && error instanceof SignatureError) return [];
      throw error;
    }
  });
}

function readSignature(label: string, input: Item | InnerList, value: unknown): ReadSignature {
  if (!(value instanceof ArrayBuffer)) throw new SignatureError(`Signature has no bytes for ${label}.`);
  if (!isInnerList(input)) throw new SignatureError(`Signature-Input has no list of components for ${label}.`);
  const components = componentsOf(input);
  return {
    label,
    components,
    parameters: parametersOf(input[1]),
    signature: new Uint8Array(value),
    base: (message) => baseOf(components, input, message),
  };
}

/** The value of a string or of one member of a dictionary, such as `Signature-Agent`; undefined for any other value. */
export function stringOf(value: string, key?: string): { text: string; parameters: Parameters } | undefined {
  try {
    const item = key === undefined ? parseItem(value) : parseDictionary(value).get(key);
    if (item === undefined || isInnerList(item) || typeof item[0] !== 'string') return undefined;
    return { text: item[0], parameters: item[1] };
  } catch {
    return undefined;
  }
}

/** Names in any case, with lines joined (section 2.1). */
export function fieldsOf(pairs: Iterable<readonly [string, string]>): FieldOf {
  const fields = new Map<string, string>();
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    const before = fields.get(key);
    fields.set(key, before === undefined ? value.trim() : `${before}, ${value.trim()}`);
  }
  return (name) => fields.get(name);
}

/** Section 2.5: a line for each component, and the parameters last. */
function baseOf(components: readonly Component[], input: InnerList, message: SignedMessage): Uint8Array<ArrayBuffer> {
  const read = new Map<string, Dictionary>();
  const lines = components.map((component, place) => {
    const identifier = serializeItem(input[0][place] as Item);
    return `${identifier}: ${valueOf(component, message, read)}`;
  });
  return utf8Bytes([...lines, `"@signature-params": ${serializeInnerList(input)}`].join('\n'));
}

/** `read` has the dictionaries that other components needed. */
function valueOf({ name, key, req }: Component, message: SignedMessage, read: Map<string, Dictionary>): string {
  const of = req ? requestOf(message) : message;
  const value = name.startsWith('@')
    ? derived(name, of)
    : key === undefined
      ? of.fieldOf(name)
      : memberOf(name, key, of.fieldOf, read);
  if (value === undefined) throw new SignatureError(`The message has no ${name}.`);
  // A line break would forge further lines of the base.
  if (/[\r\n]/.test(value)) throw new SignatureError(`${name} has a line break.`);
  return value;
}

function requestOf(message: SignedMessage): SignedRequest {
  if ('request' in message) return message.request;
  throw new SignatureError('Only the signature of a response covers its request.');
}

function memberOf(name: string, key: string, fieldOf: FieldOf, read: Map<string, Dictionary>): string | undefined {
  const value = fieldOf(name);
  if (value === undefined) return undefined;
  // Of a request and its response, only equal values share one.
  const dictionary = read.get(value) ?? dictionaryOf(name, value);
  read.set(value, dictionary);
  const member = dictionary.get(key);
  if (member === undefined) return undefined;
  return isInnerList(member) ? serializeInnerList(member) : serializeItem(member);
}

/** Section 2.2. */
function derived(name: string, message: SignedMessage): string | undefined {
  if ('status' in message) return name === '@status' ? String(message.status) : undefined;
  const { method, url } = message;
  if (name === '@method') return method;
  if (name === '@target-uri') return url;
  const [, scheme = '', authority = '', path = '', query = '?'] =
    /^(https?):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?/i.exec(url) ?? [];
  switch (name) {
    case '@authority':
      return authority.toLowerCase().replace(scheme.toLowerCase() === 'https' ? /:443$/ : /:80$/, '');
    case '@scheme':
      return scheme.toLowerCase();
    case '@path':
      return path === '' ? '/' : path;
    case '@query':
      return query;
    case '@request-target':
      return `${path === '' ? '/' : path}${query === '?' && !url.includes('?') ? '' : query}`;
    default:
      return undefined;
  }
}

function itemOf({ name, key, req }: Component): Item {
  const parameters: Parameters = new Map();
  if (key !== undefined) parameters.set('key', key);
  if (req) parameters.set('req', true);
  return [name, parameters];
}

/** Above it, a signature costs more than it says. The attributes of an event in headers do not count. */
const maxComponents = 64;

function componentsOf([items]: InnerList): Component[] {
  const components = items.map(componentOf);
  if (components.filter(({ name }) => !name.startsWith('ce-')).length > maxComponents) {
    throw new SignatureError(`The signature covers more than ${maxComponents} components.`);
  }
  // A component twice would let one line stand for another (section 2).
  if (new Set(components.map(({ name, key, req }) => JSON.stringify([name, key, req]))).size !== components.length) {
    throw new SignatureError('The signature covers a component twice.');
  }
  return components;
}

/** Other parameters (`sf`, `bs`, `tr`, `name`) are refused: a value that is read in another way is another value. */
function componentOf([name, parameters]: Item): Component {
  if (typeof name !== 'string' || name !== name.toLowerCase() || name === '@signature-params') {
    throw new SignatureError('Signature-Input has a component that is no name in lower case.');
  }
  const component: Component = { name };
  for (const [parameter, value] of parameters) {
    if (parameter === 'key' && typeof value === 'string') component.key = value;
    else if (parameter === 'req' && value === true) component.req = true;
    else throw new SignatureError(`The parameter ${parameter} of ${name} is not supported.`);
  }
  return component;
}

const parameterTypes = {
  created: 'number',
  expires: 'number',
  nonce: 'string',
  alg: 'string',
  keyid: 'string',
  tag: 'string',
} as const satisfies Record<keyof SignatureParameters, string>;

/** In their order, which is part of what is signed. Those that this code does not know stay in the base. */
function parametersOf(read: Parameters): SignatureParameters {
  const known = Array.from(read).filter(([name]) => Object.hasOwn(parameterTypes, name));
  for (const [name, value] of known) {
    const type = parameterTypes[name as keyof SignatureParameters];
    if (typeof value !== type) throw new SignatureError(`The parameter ${name} of the signature is no ${type}.`);
  }
  return Object.fromEntries(known);
}

function dictionaryOf(name: string, value: string): Dictionary {
  try {
    return parseDictionary(value);
  } catch (error) {
    throw new SignatureError(`${name} is no dictionary (RFC 9651).`, { cause: error });
  }
}

const isInnerList = (member: Item | InnerList): member is InnerList => Array.isArray(member[0]);
