import type { ComponentType } from 'preact';
import type { Text } from '../app/text.js';
import { commonTexts } from '../texts/common.js';

export type PageComponent = ComponentType<{ id?: string | undefined }>;

export interface PageEntry {
  title: Text;
  /** Loads its part of the script: a visit gets only what it opens. */
  load: () => Promise<PageComponent>;
}

const { menu } = commonTexts;

/** A page by the first segment of its place. `id` is the second one. */
export const pages: Readonly<Record<string, PageEntry | undefined>> = {
  '': { title: menu[''], load: async () => (await import('./today/today.js')).Today },
  subscriptions: {
    title: menu.subscriptions,
    load: async () => (await import('./subscriptions/subscriptions.js')).SubscriptionsPage,
  },
  register: { title: menu.subscriptions, load: async () => (await import('./subscriptions/register.js')).RegisterPage },
  playground: { title: menu.playground, load: async () => (await import('./playground/playground.js')).Playground },
  grants: { title: menu.grants, load: async () => (await import('./grants/grants.js')).Grants },
  'new-grant': { title: menu.grants, load: async () => (await import('./grants/new-grant.js')).NewGrant },
  origins: { title: menu.origins, load: async () => (await import('./origins/origins.js')).OriginsPage },
  'new-origin': { title: menu.origins, load: async () => (await import('./origins/new-origin.js')).NewOrigin },
  blocks: { title: menu.blocks, load: async () => (await import('./blocks/blocks.js')).Blocks },
  'new-block': { title: menu.blocks, load: async () => (await import('./blocks/new-block.js')).NewBlockPage },
  audit: { title: menu.audit, load: async () => (await import('./audit/audit.js')).Audit },
  feed: { title: menu.feed, load: async () => (await import('./audit/feed.js')).FeedPage },
};
