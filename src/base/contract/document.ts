import { readFileSync } from 'node:fs';
import type { operations } from './contract.gen.js';
import type { Scope } from './principal.js';

// The OpenAPI 3.1 document as it stands in openapi/openapi.json, which is bundled from the files next to it.

/** Webhooks have the others: the registry does not serve those. */
export type OperationId = Exclude<keyof operations, 'receiveHandshake' | 'receiveNotice'>;
export const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
export type Method = (typeof methods)[number];

export interface OpenApiDocument {
  info: { version: string; description?: string; contact?: { name: string; email?: string; url?: string } | undefined };
  security?: readonly SecurityRequirement[];
  servers: ReadonlyArray<{ url: string }>;
  tags: readonly TagObject[];
  /** By the role of the reader. */
  'x-tagGroups': ReadonlyArray<{ name: string; tags: readonly string[] }>;
  paths: Readonly<Record<string, PathItem>>;
  /** What others send, to the webhooks of the readers. */
  webhooks?: Readonly<Record<string, PathItem>>;
  components: {
    schemas: Readonly<Record<string, Schema>>;
    responses: Readonly<Record<string, ResponseObject>>;
    securitySchemes: Readonly<Record<'oauth', SecurityScheme>>;
  };
}

/** The scopes by the name of the scheme. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

export type SecurityScheme = { description?: string | undefined } & (
  { type: 'http'; scheme: 'bearer'; bearerFormat?: string } | { type: 'openIdConnect'; openIdConnectUrl: string }
);

export interface TagObject {
  name: string;
  description?: string;
}

export type PathItem = Readonly<Partial<Record<Method | 'options', OperationObject>>> & {
  parameters?: ReadonlyArray<ParameterObject | ReferenceObject>;
  /** In place of the document's. */
  servers?: ReadonlyArray<{ url: string }>;
  'x-addition'?: boolean;
};

export interface OperationObject {
  operationId: string;
  tags?: readonly string[];
  summary?: string;
  description?: string;
  deprecated?: boolean;
  security?: ReadonlyArray<{ oauth?: readonly Scope[] }>;
  parameters?: ReadonlyArray<ParameterObject | ReferenceObject>;
  requestBody?: { description?: string; required?: boolean; content: Readonly<Record<string, MediaType>> };
  responses: Readonly<Record<string, ResponseObject | ReferenceObject>>;
  /** Who it is for, and so how long it keeps its form. */
  'x-tier'?: 'core' | 'gateways' | 'console';
  'x-addition'?: boolean;
  'x-body-limit'?: number;
  'x-safe'?: boolean;
  'x-hot'?: boolean;
  'x-takes-events'?: boolean;
  'x-headers'?: Readonly<Record<string, string>>;
  'x-by-part'?: boolean;
  'x-page'?: boolean;
  'x-any-method'?: boolean;
  'x-authzen'?: boolean;
  /** Dates, as 2026-11-24, and a URL. The build checks them. */
  'x-deprecated-since'?: string;
  'x-sunset'?: string;
  'x-deprecation-link'?: string;
}

export interface ParameterObject extends Examples {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
}

export interface ResponseObject {
  description: string;
  headers?: Readonly<Record<string, object>>;
  content?: Readonly<Record<string, MediaType>>;
}

export interface MediaType extends Examples {
  schema: Schema;
}

interface Examples {
  example?: unknown;
  examples?: Readonly<Record<string, { summary?: string; value?: unknown } | ReferenceObject>>;
}

export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  format?: string;
  description?: string;
  example?: unknown;
  enum?: readonly string[];
  /** The values of today: a later version can add some. In responses only. */
  'x-extensible-enum'?: readonly string[];
  const?: unknown;
  default?: unknown;
  required?: readonly string[];
  properties?: Readonly<Record<string, Schema>>;
  items?: Schema;
  oneOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  allOf?: readonly Schema[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  readOnly?: boolean;
  'x-addition'?: boolean;
}

export interface ReferenceObject {
  $ref: string;
}

export function documentText(): string {
  return readFileSync(new URL('../../../openapi/openapi.json', import.meta.url), 'utf8');
}

/** The value at a JSON pointer, with references followed, and where that value is. */
export function locate<T>(document: OpenApiDocument, pointer: string): [string, T] {
  const steps = pointer.slice(1).split('/');
  const value = steps.reduce<unknown>(
    (parent, step) => (parent as Record<string, unknown>)[step.replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  );
  const reference = (value as { $ref?: string }).$ref;
  return reference ? locate(document, reference.slice(1)) : [pointer, value as T];
}

/** The object, or the one that its reference leads to. */
export function resolve<T extends object>(document: OpenApiDocument, value: T | ReferenceObject): T {
  if (!('$ref' in value) || value.$ref === undefined) return value as T;
  return value.$ref
    .slice(2)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((parent, name) => (parent as Record<string, unknown>)[name], document) as T;
}
