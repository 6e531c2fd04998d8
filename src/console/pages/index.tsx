import type { ComponentType } from 'preact';
import { t, type Text } from '../app/text.js';
import { commonTexts } from '../texts/common.js';
import { later } from '../ui/later.js';
import { Skeleton } from '../ui/table.js';

interface Page {
  title: Text;
  /** A visit gets only the script of what it opens. */
  Content: ComponentType<{ id: string | undefined }>;
}

const { menu } = commonTexts;

/** `loadOne` is for the one that the second segment names (`id`). */
function page(
  title: Text,
  load: () => Promise<ComponentType>,
  loadOne?: () => Promise<ComponentType<{ id: string }>>,
): Page {
  const until = () => (
    <>
      <h1>{t(title)}</h1>
      <Skeleton />
    </>
  );
  const List = later(load, until);
  const One = loadOne && later(loadOne, until);
  return { title, Content: ({ id }) => (id === undefined || One === undefined ? <List /> : <One id={id} />) };
}

/** By the first segment of the place. */
export const pages: ReadonlyMap<string, Page> = new Map(
  Object.entries({
    '': page(menu[''], async () => (await import('./today/today.js')).Today),
    subscriptions: page(
      menu.subscriptions,
      async () => (await import('./subscriptions/subscriptions.js')).SubscriptionList,
      async () => (await import('./subscriptions/subscription.js')).OneSubscription,
    ),
    register: page(menu.subscriptions, async () => (await import('./subscriptions/register.js')).RegisterPage),
    playground: page(menu.playground, async () => (await import('./playground/playground.js')).Playground),
    grants: page(
      menu.grants,
      async () => (await import('./grants/grants.js')).GrantList,
      async () => (await import('./grants/grant.js')).OneGrant,
    ),
    'new-grant': page(menu.grants, async () => (await import('./grants/new-grant.js')).NewGrant),
    origins: page(
      menu.origins,
      async () => (await import('./origins/origins.js')).OriginsPage,
      async () => (await import('./origins/origin.js')).OneOrigin,
    ),
    'new-origin': page(menu.origins, async () => (await import('./origins/new-origin.js')).NewOrigin),
    blocks: page(
      menu.blocks,
      async () => (await import('./blocks/blocks.js')).BlockList,
      async () => (await import('./blocks/blocks.js')).OneBlock,
    ),
    'new-block': page(menu.blocks, async () => (await import('./blocks/new-block.js')).NewBlockPage),
    audit: page(menu.audit, async () => (await import('./audit/audit.js')).Audit),
    feed: page(menu.feed, async () => (await import('./audit/feed.js')).FeedPage),
  }),
);
