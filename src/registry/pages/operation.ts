import { escapeHtml } from '../http/html-page.js';
import {
  resolve,
  type MediaType,
  type Method,
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
  type ReferenceObject,
  type ResponseObject,
  type Schema,
} from '../../base/contract/document.js';
import { entryMarkup, membersMarkup, typeMarkup, type Markdown } from './schema.js';

export interface DocumentedOperation extends OperationObject {
  method: Method | 'options';
  /** Without the prefix of the server. */
  path: string;
  /** Those of the path, too. */
  parameters: readonly ParameterObject[];
}

/** In place of a path: your webhook receives it. */
export const yourWebhook = 'your webhook';

export const titleOf = ({ summary, operationId }: DocumentedOperation) =>
  escapeHtml((summary ?? operationId).replace(/\.$/, ''));

/** One operation: what it does first, and folded, what it takes, what it returns and a form to try it. */
export function operationMarkup(document: OpenApiDocument, operation: DocumentedOperation, markdown: Markdown): string {
  const { operationId, method, path, description = '' } = operation;
  const isReceived = path === yourWebhook;
  const prefix = isReceived ? '' : prefixOf(document, path);
  return `<section class="operation" id="${operationId}" aria-labelledby="${operationId}-title">
<h4 id="${operationId}-title">${titleOf(operation)}</h4>
<p class="call"><span class="method ${method}">${method.toUpperCase()}</span> <code>${escapeHtml(prefix + path).replaceAll('/', '/<wbr>')}</code></p>
${markdown(description)}<p class="soft">${notesOf(operation).join(' ')}</p>
${parametersMarkup(operation, markdown)}${bodyMarkup(document, operation, markdown)}${responsesMarkup(document, operation, markdown)}${isReceived ? '' : formMarkup(document, operation)}</section>
`;
}

/** A path with a server of its own has no prefix. */
function prefixOf({ servers, paths }: OpenApiDocument, path: string): string {
  return paths[path]?.servers === undefined ? (servers[0]?.url ?? '') : '';
}

function notesOf(operation: DocumentedOperation): string[] {
  if (operation.path === yourWebhook) return ['Your webhook receives this.'];
  const scopes = operation.security?.flatMap((each) => Object.values(each)) ?? [];
  const needed = scopes.map((all) => all.map((scope) => `<code>${escapeHtml(scope)}</code>`).join(' and '));
  const limit = operation['x-body-limit'];
  const tier = operation['x-tier'];
  return [
    ...(tier === undefined ? [] : [`Tier: <a href="guides/versioning#tiers">${tier}</a>.`]),
    scopes.length === 0 ? 'Needs no token.' : `Scope: ${needed.map((each) => each || 'none').join(' or ')}.`,
    ...(operation.deprecated ? ['<strong>Deprecated.</strong>'] : []),
    ...(operation['x-addition'] ? ['Assent adds this to the CloudEvents Subscriptions API.'] : []),
    ...(limit === undefined ? [] : [`A body has at most ${limit.toLocaleString('en')} bytes.`]),
  ];
}

function folded(summary: string, content: string): string {
  return `<details><summary>${summary}</summary>\n<div class="fold">\n${content}</div></details>\n`;
}

function parametersMarkup({ parameters }: DocumentedOperation, markdown: Markdown): string {
  if (parameters.length === 0) return '';
  const entries = parameters.map(({ name, in: place, required, schema, description = '' }) =>
    entryMarkup(name, `in ${place} · ${typeMarkup(schema)}`, required ? ['required'] : [], markdown(description)),
  );
  const names = parameters.map(({ name }) => escapeHtml(name)).join(', ');
  return folded(`Parameters <span class="soft">${names}</span>`, `<dl class="members">\n${entries.join('')}</dl>\n`);
}

function bodyMarkup(document: OpenApiDocument, { requestBody }: DocumentedOperation, markdown: Markdown): string {
  if (!requestBody) return '';
  const { content, description = '', required } = requestBody;
  const types = Object.keys(content)
    .map((type) => escapeHtml(type))
    .join(', ');
  return folded(
    `Request body <span class="soft">${types}${required ? '' : ', optional'}</span>`,
    markdown(description) + contentMarkup(document, content, markdown),
  );
}

function contentMarkup(document: OpenApiDocument, content: Record<string, MediaType>, markdown: Markdown): string {
  return Object.entries(content)
    .map(([type, media]) => {
      const examples = examplesOf(document, media).map(
        ({ name, text }) =>
          `<figure><figcaption>${escapeHtml(name)}</figcaption><pre><code>${escapeHtml(text)}</code></pre></figure>\n`,
      );
      const shape = type === '*/*' ? 'any value' : typeMarkup(media.schema);
      return `<p><code>${escapeHtml(type)}</code>: ${shape}</p>\n${membersMarkup(media.schema, markdown)}${examples.join('')}`;
    })
    .join('');
}

/** A response that operations share is described once, at the end of the page. */
function responsesMarkup(document: OpenApiDocument, { responses }: DocumentedOperation, markdown: Markdown): string {
  const entries = Object.entries(responses).map(([status, response]) => {
    const shared = '$ref' in response ? (response.$ref.split('/').at(-1) ?? '') : undefined;
    const { description } = resolve<ResponseObject>(document, response);
    const link = shared === undefined ? '' : `<p><a href="#response-${shared}">Example of ${shared}</a></p>`;
    const own = shared === undefined ? responseMarkup(document, response as ResponseObject, markdown) : '';
    return entryMarkup(status, '', [], own === '' ? markdown(description) + link : own);
  });
  const statuses = Object.keys(responses).join(', ');
  return folded(`Responses <span class="soft">${statuses}</span>`, `<dl class="members">\n${entries.join('')}</dl>\n`);
}

export function responseMarkup(document: OpenApiDocument, response: ResponseObject, markdown: Markdown): string {
  const { description, headers = {}, content = {} } = response;
  const names = Object.keys(headers).map((name) => `<code>${escapeHtml(name)}</code>`);
  const sent = names.length === 0 ? '' : `<p class="soft">Headers: ${names.join(', ')}</p>\n`;
  return markdown(description) + sent + contentMarkup(document, content, markdown);
}

/** Hidden until the script is there that sends it. */
function formMarkup(document: OpenApiDocument, operation: DocumentedOperation): string {
  const { operationId, method, path, parameters, requestBody, responses } = operation;
  const prefix = prefixOf(document, path);
  const fields = parameters.map(({ name, in: place, required, schema }) => {
    const id = `${operationId}-${place}-${name}`;
    const values = choicesOf(document, schema);
    const attributes = `id="${id}" data-in="${place}" data-name="${escapeHtml(name)}"${required ? ' required' : ''}`;
    const control = values
      ? `<select ${attributes}>${['', ...values].map((value) => `<option>${escapeHtml(value)}</option>`).join('')}</select>`
      : `<input ${attributes} autocomplete="off" spellcheck="false">`;
    return `<p><label for="${id}">${escapeHtml(name)} <span class="soft">${place}${required ? ', required' : ''}</span></label>${control}</p>\n`;
  });
  const bodies = Object.entries(requestBody?.content ?? {}).flatMap(([type, media]) =>
    examplesOf(document, media).map((example) => ({ type, ...example })),
  );
  const several = bodies.length > 1 ? [exampleField(operationId, bodies)] : [];
  const body = bodies
    .slice(0, 1)
    .map(
      ({ type, text }) =>
        `<p><label for="${operationId}-body">Body</label><textarea id="${operationId}-body" data-body data-type="${escapeHtml(type)}" rows="${Math.min(text.split('\n').length + 1, 16)}" spellcheck="false">${escapeHtml(text)}</textarea></p>\n`,
    );
  const types = acceptable(document, responses);
  const accept =
    types.length < 2
      ? ''
      : `<p><label for="${operationId}-accept">Accept <span class="soft">header</span></label><select id="${operationId}-accept" data-in="header" data-name="Accept">${types.map((type) => `<option>${type}</option>`).join('')}</select></p>\n`;
  return `<details class="try" hidden><summary>Try it</summary>
<form class="fold" data-method="${method.toUpperCase()}" data-path="${escapeHtml((prefix + path).slice(1))}" aria-labelledby="${operationId}-title">
${[...fields, accept, ...several, ...body].join('')}<p class="actions"><button class="first">Send</button> <button type="button" data-curl>Copy as curl</button></p>
<p role="status"></p>
<pre class="output" hidden></pre>
</form></details>
`;
}

function exampleField(operationId: string, bodies: ReadonlyArray<{ type: string; name: string; text: string }>) {
  const isOneType = new Set(bodies.map(({ type }) => type)).size === 1;
  const options = bodies.map(
    ({ type, name, text }) =>
      `<option value="${escapeHtml(text)}" data-type="${escapeHtml(type)}">${escapeHtml(isOneType ? name : `${name} (${type})`)}</option>`,
  );
  return `<p><label for="${operationId}-example">Example</label><select id="${operationId}-example" data-fills="${operationId}-body">${options.join('')}</select></p>\n`;
}

function choicesOf(document: OpenApiDocument, schema: ParameterObject['schema']): string[] | undefined {
  const { enum: values, type } = resolve(document, schema as typeof schema | ReferenceObject);
  return type === 'boolean' ? ['true', 'false'] : values?.map(String);
}

function acceptable(document: OpenApiDocument, responses: DocumentedOperation['responses']): string[] {
  const [success] = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  return success === undefined ? [] : Object.keys(resolve<ResponseObject>(document, success[1]).content ?? {});
}

interface NamedExample {
  name: string;
  text: string;
}

/** The examples of a body or parameter as a client writes them; if there is none, the one of the schema. */
function examplesOf(document: OpenApiDocument, holder: MediaType): NamedExample[] {
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

function exampleOfSchema(document: OpenApiDocument, schema: Schema): unknown {
  const { example, type, items } = resolve<Schema>(document, schema);
  if (example !== undefined || type !== 'array' || items === undefined) return example;
  const item = exampleOfSchema(document, items);
  return item === undefined ? undefined : [item];
}
