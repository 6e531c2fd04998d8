import type { ComponentType } from 'preact';
import type { Text } from '../app/text.js';
import { blocksMessages } from '../messages/blocks.js';
import { commonMessages } from '../messages/common.js';
import { originsMessages } from '../messages/origins.js';
import { Audit } from './audit.js';
import { Blocks } from './blocks.js';
import { Feed } from './feed.js';
import { Register } from './register.js';
import { Grants } from './grants.js';
import { Playground } from './playground.js';
import { NewBlock } from './new-block.js';
import { NewOrigin } from './new-origin.js';
import { Origins } from './origins.js';
import { Subscriptions } from './subscriptions.js';
import { Today } from './today.js';
import { Webhooks } from './webhooks.js';

const { menu } = commonMessages;

/** A page by the first segment of its place. `id` is the second one. */
export const pages: Readonly<
  Record<string, { title: Text; Page: ComponentType<{ id?: string | undefined }> } | undefined>
> = {
  '': { title: menu[''], Page: Today },
  subscriptions: { title: menu.subscriptions, Page: Subscriptions },
  register: { title: menu.register, Page: Register },
  playground: { title: menu.playground, Page: Playground },
  webhooks: { title: menu.webhooks, Page: Webhooks },
  grants: { title: menu.grants, Page: Grants },
  origins: { title: menu.origins, Page: Origins },
  'new-origin': { title: originsMessages.create, Page: NewOrigin },
  blocks: { title: menu.blocks, Page: Blocks },
  'new-block': { title: blocksMessages.create, Page: NewBlock },
  audit: { title: menu.audit, Page: Audit },
  feed: { title: menu.feed, Page: Feed },
};
