import { escapeHtml } from '../http/html-page.js';
import {
  methods,
  resolve,
  type OpenApiDocument,
  type ParameterObject,
  type TagObject,
} from '../../base/contract/document.js';
import { operationMarkup, responseMarkup, titleOf, yourWebhook, type DocumentedOperation } from './operation.js';
import { membersMarkup, typeMarkup, type Markdown } from './schema.js';

/** The parts of the reference by their name in `x-tagGroups`: the folder of their guides, and the id that pages link to. */
const roles: Readonly<Record<string, { id: string; lead: string; guides: string }>> = {
  Consumers: {
    id: 'consumer',
    lead: 'You receive events. You register subscriptions for your webhook.',
    guides: 'consumers',
  },
  'Webhook owners': {
    id: 'webhook-owner',
    lead: 'You run a webhook. You decide which origin may send to it.',
    guides: 'consumers',
  },
  Senders: {
    id: 'sender',
    lead: 'You deliver events. Ask first where they go, and how fast you may send.',
    guides: 'senders',
  },
  Admins: { id: 'admin', lead: 'You manage the origins and grants of a tenant.', guides: 'admins' },
};

/**
 * The API reference as `build.mjs` keeps it: all that comes from the contract. The two parts stand in the frame of the
 * pages; how to get a token depends on the configuration and is added when the registry starts.
 */
export interface ReferencePage {
  navigation: string;
  introduction: string;
  operations: string;
}

export function renderReference(document: OpenApiDocument, markdown: Markdown): ReferencePage {
  const { info, components } = document;
  const [lead = '', ...conventions] = (info.description ?? '').split(/^(?=## )/m);
  const groups = groupsOf(document);
  const types = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<details><summary>${name}</summary>\n<div class="fold" id="type-${name}">${markdown(schema.description ?? '')}${
        schema.properties ? '' : `<p>${typeMarkup(schema)}</p>`
      }${membersMarkup(schema, markdown)}</div></details>\n`,
  );
  const shared = Object.entries(components.responses).map(
    ([name, response]) =>
      `<details><summary>${name}</summary>\n<div class="fold" id="response-${name}">${responseMarkup(document, response, markdown)}</div></details>\n`,
  );
  return {
    navigation: `<ul>
<li><a href="#token">Token</a></li>
${groups.map(navigationOf).join('')}<li><a href="#responses">Shared responses</a></li>
<li><a href="#types">Data types</a></li>
</ul>`,
    introduction: `${markdown(lead)}${
      conventions.length === 0
        ? ''
        : `<details><summary>Roles, tokens and conventions</summary>\n<div class="fold">${markdown(conventions.join(''))}</div></details>\n`
    }`,
    operations: `${groups.map((group) => groupMarkup(document, group, markdown)).join('')}<section aria-labelledby="responses">
<h2 id="responses">Shared responses</h2>
${shared.join('')}</section>
<section aria-labelledby="types">
<h2 id="types">Data types</h2>
${types.join('')}</section>
`,
  };
}

interface Group {
  id: string;
  name: string;
  lead: string;
  /** Their folder. */
  guides: string;
  tags: Array<TagObject & { operations: DocumentedOperation[] }>;
}

/** In the order of the contract. A tag without operations is left out, and so is a group without tags. */
function groupsOf(document: OpenApiDocument): Group[] {
  const operations = operationsOf(document);
  return document['x-tagGroups'].flatMap(({ name, tags: named }) => {
    const tags = document.tags.flatMap((tag) => {
      const own = operations.filter(({ tags: [first] = [] }) => first === tag.name);
      return own.length === 0 || !named.includes(tag.name) ? [] : [{ ...tag, operations: own }];
    });
    const role = roles[name] ?? { id: slug(name), lead: '', guides: '' };
    return tags.length === 0 ? [] : [{ name, ...role, tags }];
  });
}

function operationsOf(document: OpenApiDocument): DocumentedOperation[] {
  const received = Object.values(document.webhooks ?? {}).map((item) => [yourWebhook, item] as const);
  return [...Object.entries(document.paths), ...received].flatMap(([path, item]) =>
    ([...methods, 'options'] as const).flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((each) =>
        resolve<ParameterObject>(document, each),
      );
      const isAddition = operation['x-addition'] === true || item['x-addition'] === true;
      return [{ ...operation, method, path, parameters, 'x-addition': isAddition }];
    }),
  );
}

function navigationOf({ id, name, tags }: Group): string {
  const entries = tags.map(({ name: tag, operations }) => {
    const links = operations.map(
      (operation) =>
        `<li><a href="#${operation.operationId}"><span class="method ${operation.method}">${operation.method.toUpperCase()}</span> ${titleOf(operation)}</a></li>`,
    );
    return `<li><a href="#tag-${slug(tag)}">${escapeHtml(tag)}</a>\n<ul class="operations">${links.join('\n')}</ul></li>\n`;
  });
  return `<li><a href="#${id}"><strong>${name}</strong></a>\n<ul>${entries.join('')}</ul></li>\n`;
}

function groupMarkup(document: OpenApiDocument, { id, name, lead, guides, tags }: Group, markdown: Markdown): string {
  const parts = tags.map(
    ({ name: tag, description = '', operations }) => `<section aria-labelledby="tag-${slug(tag)}">
<h3 id="tag-${slug(tag)}">${escapeHtml(tag)}</h3>
${markdown(description)}${operations.map((operation) => operationMarkup(document, operation, markdown)).join('')}</section>
`,
  );
  return `<section aria-labelledby="${id}">
<h2 id="${id}">${name}</h2>
<p>${lead} <a href="guides/#${guides}">Guides</a></p>
${parts.join('')}</section>
`;
}

const slug = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-');
