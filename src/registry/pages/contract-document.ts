/** What the reference reads of an OpenAPI 3.1 document. */
export interface ContractDocument {
  info: { version: string; description?: string };
  servers: ReadonlyArray<{ url: string }>;
  tags: readonly TagObject[];
  paths: Readonly<Record<string, PathItemObject>>;
  /** What others send, to the webhooks of the readers. */
  webhooks?: Readonly<Record<string, PathItemObject>>;
  components: {
    schemas: Readonly<Record<string, Schema>>;
    responses: Readonly<Record<string, ResponseObject>>;
  };
}

export interface TagObject {
  name: string;
  description?: string;
  'x-role'?: string;
}

type PathItemObject = Readonly<Partial<Record<Method, OperationObject>>> & {
  parameters?: ReadonlyArray<ParameterObject | Reference>;
  servers?: ReadonlyArray<{ url: string }>;
  'x-addition'?: boolean;
};

export const methods = ['get', 'post', 'put', 'patch', 'delete', 'options'] as const;
export type Method = (typeof methods)[number];

export interface OperationObject {
  operationId: string;
  tags?: readonly string[];
  summary?: string;
  description?: string;
  deprecated?: boolean;
  security?: ReadonlyArray<Readonly<Record<string, readonly string[]>>>;
  parameters?: ReadonlyArray<ParameterObject | Reference>;
  requestBody?: { description?: string; required?: boolean; content: Readonly<Record<string, MediaType>> };
  responses: Readonly<Record<string, ResponseObject | Reference>>;
  'x-addition'?: boolean;
  'x-body-limit'?: number;
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
  examples?: Readonly<Record<string, { summary?: string; value?: unknown } | Reference>>;
}

export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  format?: string;
  description?: string;
  example?: unknown;
  enum?: readonly unknown[];
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

export interface Reference {
  $ref: string;
}

/** The object, or the one that its reference leads to. */
export function resolve<T extends object>(document: ContractDocument, value: T | Reference): T {
  if (!('$ref' in value) || value.$ref === undefined) return value as T;
  return value.$ref
    .slice(2)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((parent, name) => (parent as Record<string, unknown>)[name], document) as T;
}

interface NamedExample {
  name: string;
  text: string;
}

/** The examples of a body or parameter as a client writes them; if there is none, the one of the schema. */
export function examplesOf(document: ContractDocument, holder: MediaType): NamedExample[] {
  const named = Object.entries(holder.examples ?? {}).map(([name, example]) => {
    const { summary, value } = resolve<{ summary?: string; value?: unknown }>(document, example);
    return { name: summary ?? name, value };
  });
  const single = holder.example ?? exampleOfSchema(document, holder.schema);
  const all = named.length > 0 || single === undefined ? named : [{ name: 'Example', value: single }];
  return all.map(({ name, value }) => ({
    name,
    text: typeof value === 'string' ? value : JSON.stringify(value, null, 2),
  }));
}

function exampleOfSchema(document: ContractDocument, schema: Schema): unknown {
  const { example, type, items } = resolve<Schema>(document, schema);
  if (example !== undefined || type !== 'array' || items === undefined) return example;
  const item = exampleOfSchema(document, items);
  return item === undefined ? undefined : [item];
}
