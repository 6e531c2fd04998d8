import type { ComponentType } from 'preact';
import { t, type Text } from '../app/text.js';
import { commonTexts } from '../texts/common.js';
import { later } from '../ui/later.js';
import { Skeleton } from '../ui/table.js';

type PageComponent = ComponentType<{ id?: string | undefined }>;

interface Page {
  title: Text;
  /** A visit gets only the script of what it opens. */
  Content: PageComponent;
}

const { menu } = commonTexts;

const page = (title: Text, load: () => Promise<PageComponent>): Page => ({
  title,
  Content: later(load, () => (
    <>
      <h1>{t(title)}</h1>
      <Skeleton />
    </>
  )),
});

/** A page by the first segment of its place. `id` is the second one. */
export const pages: ReadonlyMap<string, Page> = new Map(
  Object.entries({
    '': page(menu[''], async () => (await import('./today/today.js')).Today),
    subscriptions: page(
      menu.subscriptions,
      async () => (await import('./subscriptions/subscriptions.js')).SubscriptionsPage,
    ),
    register: page(menu.subscriptions, async () => (await import('./subscriptions/register.js')).RegisterPage),
    playground: page(menu.playground, async () => (await import('./playground/playground.js')).Playground),
    grants: page(menu.grants, async () => (await import('./grants/grants.js')).Grants),
    'new-grant': page(menu.grants, async () => (await import('./grants/new-grant.js')).NewGrant),
    origins: page(menu.origins, async () => (await import('./origins/origins.js')).OriginsPage),
    'new-origin': page(menu.origins, async () => (await import('./origins/new-origin.js')).NewOrigin),
    blocks: page(menu.blocks, async () => (await import('./blocks/blocks.js')).Blocks),
    'new-block': page(menu.blocks, async () => (await import('./blocks/new-block.js')).NewBlockPage),
    audit: page(menu.audit, async () => (await import('./audit/audit.js')).Audit),
    feed: page(menu.feed, async () => (await import('./audit/feed.js')).FeedPage),
  }),
);
