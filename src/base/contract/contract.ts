import type { IncomingMessage } from 'node:http';
import formats from 'ajv-formats';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { RegistryError, type Fault } from '../errors.js';
import { requestTexts } from '../texts/requests.js';
import { textIn } from '../texts/text.js';
import { tokenTexts } from '../texts/tokens.js';
import { faultsOf } from './contract-faults.js';
import {
  documentText,
  locate,
  methods,
  type Method,
  type OpenApiDocument,
  type OperationId,
  type OperationObject,
  type ParameterObject,
  type ResponseObject,
} from './document.js';
import { escapePointer, textFault } from '../formats/json.js';
import type { Principal, Scope } from './principal.js';
import { isTimestamp } from '../formats/timestamp.js';

export interface Operation {
  id: OperationId;
  method: Method;
  /** In Express's notation, with the server's prefix: `/v1/subscriptions/:id`. */
  path: string;
  /** A token needs all of one of these; undefined for an operation without a token. */
  scopes: ReadonlyArray<readonly Scope[]> | undefined;
  /** The media types of the request body; empty if the operation accepts none. */
  mediaTypes: readonly string[];
  /** Bytes of the request body, if the operation has its own limit. */
  bodyLimit: number | undefined;
  /** A missing body is not a fault. Nor is a body of another media type, which is not read. */
  isBodyOptional: boolean;
  /** It changes nothing (RFC 9110 section 9.2.1), whatever its method. */
  isSafe: boolean;
  /** Clients call it before every event, or by the thousand: the fast path serves it. */
  isHot: boolean;
  /** Its body is events, with the size limit of events. */
  takesEvents: boolean;
  /** Its successes have an ETag. */
  hasTag: boolean;
  /** Of its successes, in place of those of every response or beside them. */
  headers: Readonly<Record<string, string>>;
  /** Its body has independent parts; the handler checks each one separately. */
  isByPart: boolean;
  /** Browsers get a page instead of JSON or a problem. */
  hasPage: boolean;
  /** It serves any method, and every path below its own; it never reads a body. Only the fast path can do that. */
  takesAnyMethod: boolean;
  /**
   * AuthZEN Authorization API 1.0: its responses have the caller's `X-Request-Id` if there is one (section 10.1.3), and a
   * body of another media type is a 400 (section 10.1.2).
   */
  isAuthzen: boolean;
  /** The headers that announce the end of a deprecated operation; undefined for every other one. */
  deprecation: Readonly<Record<string, string>> | undefined;
  /** Errors: `invalid_request`. Headers are checked, and read only if there are parameters among them. */
  parseParameters(request: RequestParameters): Parameters;
  checkBody: (body: unknown) => Fault[];
  /** How a response violates the contract; used by the tests. */
  checkAnswer(status: number, mediaType: string | undefined, body: unknown): string[];
}

/**
 * RegistryError `scope_missing`. Call it before the body is read, so that the service buffers none for a caller without
 * the scope.
 */
export function requireScope({ scopes }: Operation, principal: Principal): void {
  if (scopes?.some((all) => all.every((scope) => principal.scopes.has(scope)))) return;
  throw new RegistryError('scope_missing', tokenTexts.scope(scopes ?? []));
}

interface RequestParameters {
  path: Readonly<Record<string, unknown>>;
  query: Readonly<Record<string, unknown>>;
  request: Pick<IncomingMessage, 'headers'>;
}

export interface Parameters {
  path: Record<string, unknown>;
  query: Record<string, unknown>;
}

/**
 * The OpenAPI document at run time: the operations, who may call them, and the checks of requests and responses.
 * openapi/openapi.json is bundled from the files next to it. The types in contract.gen.ts are generated from it.
 */
export interface Contract {
  document: OpenApiDocument;
  operations: readonly Operation[];
  operationOf(id: OperationId): Operation;
}

const documentId = 'openapi';

/** The build lints the document. Ajv's own check takes a third of the load time and skips the schemas. */
const ajvSettings = {
  strict: false,
  discriminator: true,
  allErrors: true,
  verbose: true,
  validateSchema: false,
  meta: false,
};

export function loadContract(text = documentText()): Contract {
  const document = JSON.parse(text) as OpenApiDocument;
  const schemas = JSON.parse(
    text
      // Client generators need the mapping. Ajv accepts none: it finds the branch by the values of the member.
      .replaceAll('"mapping":', '"x-mapping":')
      // What is open for clients is closed for this version of the registry.
      .replaceAll('"x-extensible-enum":', '"enum":'),
  ) as object;
  const bodies = new Ajv2020(ajvSettings);
  const texts = new Ajv2020({ ...ajvSettings, useDefaults: true });
  for (const ajv of [bodies, texts]) {
    formats.default(ajv);
    ajv.addFormat('date-time', isTimestamp);
    ajv.addSchema(schemas, documentId);
  }
  const compile = (ajv: Ajv2020, pointer: string) => ajv.compile({ $ref: `${documentId}#${pointer}` });
  const prefix = document.servers[0]?.url ?? '';

  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      if (!operation) return [];
      const at = `/paths/${escapePointer(path)}/${method}`;
      const parameters = [item, operation].flatMap((holder, own) =>
        (holder.parameters ?? []).map(
          (_, i) =>
            locate<ParameterObject>(document, `${own ? at : `/paths/${escapePointer(path)}`}/parameters/${i}`)[1],
        ),
      );
      const content = Object.keys(operation.requestBody?.content ?? {});
      const body = content.map((type) =>
        onFirstUse(() => compile(bodies, `${at}/requestBody/content/${escapePointer(type)}/schema`)),
      )[0];
      const parseParameters = onFirstUse(() => parameterParser(texts, parameters, !isOpen));
      // An empty list means that the operation needs no token.
      const isOpen = operation.security?.length === 0;
      const scopes = operation.security?.map((requirement) => requirement.oauth ?? []) ?? [];
      return {
        id: operation.operationId as OperationId,
        method,
        path: (item.servers === undefined ? prefix : '') + path.replace(/\{(\w+)\}/g, ':$1'),
        scopes: isOpen ? undefined : scopes,
        mediaTypes: content,
        bodyLimit: operation['x-body-limit'],
        isBodyOptional: operation.requestBody?.required !== true,
        // The operation without a token is the callback, where GET grants.
        isSafe: operation['x-safe'] ?? (method === 'get' && !isOpen),
        isHot: operation['x-hot'] ?? false,
        takesEvents: operation['x-takes-events'] ?? false,
        hasTag: Object.keys(operation.responses).some((status) => {
          const { headers = {} } = locate<ResponseObject>(document, `${at}/responses/${status}`)[1];
          return 'ETag' in headers;
        }),
        headers: operation['x-headers'] ?? {},
        isByPart: operation['x-by-part'] ?? false,
        hasPage: operation['x-page'] ?? false,
        takesAnyMethod: operation['x-any-method'] ?? false,
        isAuthzen: operation['x-authzen'] ?? false,
        deprecation: deprecationOf(operation),
        parseParameters: (sent) => parseParameters()(sent),
        checkBody(value) {
          const validate = body?.();
          return validate === undefined || validate(value) ? [] : faultsOf(takeErrors(validate));
        },
        checkAnswer: answerChecker(document, operation, at, (pointer) => compile(bodies, pointer)),
      } satisfies Operation;
    }),
  );
  const byId = new Map(operations.map((operation) => [operation.id, operation]));
  return {
    document,
    operations,
    operationOf(id) {
      const operation = byId.get(id);
      if (operation === undefined) throw new Error(`The contract has no operation ${id}.`);
      return operation;
    },
  };
}

/**
 * `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and a `Link` to the explanation, as far as the contract has them. Dates
 * begin at midnight in UTC.
 */
function deprecationOf(operation: OperationObject): Operation['deprecation'] {
  if (operation.deprecated !== true) return undefined;
  const { 'x-deprecated-since': since, 'x-sunset': sunset, 'x-deprecation-link': link } = operation;
  return {
    ...(since === undefined ? {} : { Deprecation: `@${Date.parse(since) / 1_000}` }),
    ...(sunset === undefined ? {} : { Sunset: new Date(sunset).toUTCString() }),
    ...(link === undefined ? {} : { Link: `<${link}>; rel="deprecation"` }),
  };
}

/** Compiling every schema would add 0.3 s to each start. */
function onFirstUse<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** `at` points to the operation in the document. A schema is compiled for the first response that needs it. */
function answerChecker(
  document: OpenApiDocument,
  { responses }: OperationObject,
  at: string,
  compile: (pointer: string) => ValidateFunction,
): Operation['checkAnswer'] {
  const compiled = new Map<string, ValidateFunction>();
  return (status, mediaType, value) => {
    const key = String(status) in responses ? String(status) : 'default';
    const [place, response] = locate<ResponseObject>(document, `${at}/responses/${key}`);
    if (mediaType === undefined && !response.content) return [];
    if (mediaType === undefined || !response.content?.[mediaType]) {
      return [`${status} ${mediaType} is not in the contract`];
    }
    if (!mediaType.endsWith('json')) return [];
    const schema = `${place}/content/${escapePointer(mediaType)}/schema`;
    const validate = compiled.get(schema) ?? compile(schema);
    compiled.set(schema, validate);
    return validate(value)
      ? []
      : faultsOf(validate.errors ?? []).map((fault) => `${fault.pointer} ${textIn(fault.detail, 'en')}`);
  };
}

/** Errors hold the faulty value. Without this, Ajv would keep them until the next validation. */
function takeErrors(validate: ValidateFunction): ErrorObject[] {
  const errors = validate.errors ?? [];
  validate.errors = null;
  return errors;
}

function parameterParser(
  ajv: Ajv2020,
  parameters: readonly ParameterObject[],
  refuseUnknown: boolean,
): Operation['parseParameters'] {
  const validatorOf = (place: ParameterObject['in']) => {
    const own = parameters.filter((parameter) => parameter.in === place);
    const nameOf = (name: string) => (place === 'header' ? name.toLowerCase() : name);
    return ajv.compile({
      type: 'object',
      properties: Object.fromEntries(own.map(({ name, schema }) => [nameOf(name), absolute(schema)])),
      required: own.filter(({ required }) => required).map(({ name }) => nameOf(name)),
      ...(place === 'query' && refuseUnknown ? { additionalProperties: false } : {}),
    });
  };
  const [isPath, isQuery, isHeaders] = [validatorOf('path'), validatorOf('query'), validatorOf('header')];
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const hasHeaders = parameters.some((parameter) => parameter.in === 'header');

  return (sent) => {
    const path = { ...sent.path };
    const query = { ...sent.query };
    for (const { name, schema } of inQuery) {
      const text = query[name];
      if (typeof text === 'string') query[name] = valueOf(text, schema.type);
    }
    const repeated = Object.keys(query).filter((name) => Array.isArray(query[name]));
    const faults = [
      ...(isPath(path) ? textFaults('path', path) : faultsOf(isPath.errors ?? [], 'path')),
      ...(repeated.length > 0
        ? repeated.map((name): Fault => ({
            pointer: `query/${name}`,
            rule: 'parameter_repeated',
            detail: requestTexts.sendOnce,
          }))
        : isQuery(query)
          ? textFaults('query', query)
          : faultsOf(isQuery.errors ?? [], 'query')),
      ...(hasHeaders && !isHeaders(sent.request.headers) ? faultsOf(isHeaders.errors ?? [], 'header') : []),
    ];
    if (faults.length > 0) throw brokenParameters(faults);
    return { path, query };
  };
}

function textFaults(place: string, values: Readonly<Record<string, unknown>>): Fault[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const fault = typeof value === 'string' ? textFault(value) : undefined;
    return fault ? [{ pointer: `${place}/${name}`, ...fault }] : [];
  });
}

/**
 * The value of a parameter. Text that is not a decimal integer or a boolean stays text, so that the schema refuses it.
 */
function valueOf(text: string, type: unknown): string | number | boolean {
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  return type === 'boolean' && (text === 'true' || text === 'false') ? text === 'true' : text;
}

/** The pointers start with the place, such as `query/`. */
export function brokenParameters(faults: readonly Fault[]): RegistryError {
  return new RegistryError('invalid_request', requestTexts.brokenParameters, { faults });
}

/** References inside a parameter's schema point into the document. */
function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#', `"$ref":"${documentId}#`)) as object;
}
