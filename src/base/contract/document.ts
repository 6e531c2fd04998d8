import { readFileSync } from 'node:fs';
import type { operations } from './contract.gen.js';
import type { Scope } from './principal.js';

// The OpenAPI document as it stands in openapi/openapi.json, which is bundled from the files next to it.

/** Webhooks have the others: the registry does not serve those. */
export type OperationId = Exclude<keyof operations, 'askWebhook' | 'receiveNotice'>;
export const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
export type Method = (typeof methods)[number];

export interface SchemaObject {
  type?: string;
  format?: string;
  description?: string;
  enum?: string[];
  default?: unknown;
  items?: SchemaObject;
  oneOf?: SchemaObject[];
  properties?: Record<string, SchemaObject>;
  required?: string[];
  readOnly?: boolean;
  $ref?: string;
}
export interface ParameterObject {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: SchemaObject;
  $ref?: string;
}
export interface ResponseObject {
  content?: Record<string, object>;
}
export interface OperationObject {
  operationId: OperationId;
  description: string;
  parameters?: unknown[];
  security?: Array<{ oauth?: Scope[] }>;
  requestBody?: { required?: boolean; content: Record<string, { schema: SchemaObject }> };
  responses: Record<string, unknown>;
  'x-body-limit'?: number;
  'x-safe'?: boolean;
  'x-hot'?: boolean;
  'x-takes-events'?: boolean;
  'x-headers'?: Readonly<Record<string, string>>;
  'x-by-part'?: boolean;
  'x-page'?: boolean;
  'x-any-method'?: boolean;
  'x-echo-request-id'?: boolean;
  deprecated?: boolean;
  /** Dates, as 2026-11-24, and a URL. The build checks them. */
  'x-deprecated-since'?: string;
  'x-sunset'?: string;
  'x-deprecation-link'?: string;
}
export type PathItem = Partial<Record<Method, OperationObject>> & {
  parameters?: unknown[];
  /** In place of the document's. */
  servers?: Array<{ url: string }>;
};
export interface OpenApiDocument {
  info: { version: string; contact: { name: string } };
  servers: Array<{ url: string }>;
  paths: Record<string, PathItem>;
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
