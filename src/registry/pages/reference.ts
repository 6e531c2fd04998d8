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

/** Who reads a part of the reference; `x-role` of its tags says which part that is. */
const roles: Readonly<Record<string, { name: string; lead: string; guides: string }>> = {
  consumer: {
    name: 'Consumers',
    lead: 'You receive events. You register subscriptions for your webhook.',
    guides: 'consumers',
  },
  'webhook-owner': {
    name: 'Webhook owners',
    lead: 'You run a webhook. You decide which origin may send to it.',
    guides: 'consumers',
  },
  sender: {
    name: 'Senders',
    lead: 'You deliver events. Ask first where they go, and how fast you may send.',
    guides: 'senders',
  },
  admin: { name: 'Admins', lead: 'You manage the origins and grants of a tenant.', guides: 'admins' },
};
const otherRole = { name: 'More operations', lead: '', guides: '' };

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

/** In the order of the tags. A tag without operations is left out. */
function groupsOf(document: OpenApiDocument): Group[] {
  const operations = operationsOf(document);
  const groups = new Map<string, Group>();
  for (const tag of document.tags) {
    const own = operations.filter(({ tags = [] }) => tags[0] === tag.name);
    if (own.length === 0) continue;
    const id = tag['x-role'] ?? 'others';
    const group = groups.get(id) ?? { id, ...(roles[id] ?? otherRole), tags: [] };
    group.tags.push({ ...tag, operations: own });
    groups.set(id, group);
  }
  return [...groups.values()];
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
    return `<li><a href="#tag-${slug(tag)}">${partOf(tag)}</a>\n<ul class="operations">${links.join('\n')}</ul></li>\n`;
  });
  return `<li><a href="#${id}"><strong>${name}</strong></a>\n<ul>${entries.join('')}</ul></li>\n`;
}

function groupMarkup(document: OpenApiDocument, { id, name, lead, guides, tags }: Group, markdown: Markdown): string {
  const parts = tags.map(
    ({ name: tag, description = '', operations }) => `<section aria-labelledby="tag-${slug(tag)}">
<h3 id="tag-${slug(tag)}">${partOf(tag)}</h3>
${markdown(description)}${operations.map((operation) => operationMarkup(document, operation, markdown)).join('')}</section>
`,
  );
  return `<section aria-labelledby="${id}">
<h2 id="${id}">${name}</h2>
<p>${lead} <a href="guides/#${guides}">Guides</a></p>
${parts.join('')}</section>
`;
}

/** The contract puts the role in front of the name of a tag; here it stands above. */
const partOf = (tag: string) => escapeHtml(tag.replace(/^[^:]+: (.)/, (_, first: string) => first.toUpperCase()));

const slug = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-');
