import type { ComponentChildren } from 'preact';
import type { Schemas } from '../../app/api.js';
import { href } from '../../app/route.js';
import { isAdmin, user } from '../../app/session.js';
import { formatNumber, t } from '../../app/text.js';
import { blocksTexts as texts } from '../../texts/blocks.js';
import { totalText } from '../../ui/search.js';

type Blocked = Pick<Schemas['Block'], 'kind' | 'value' | 'tenant'>;

const maxNames = 20;

export const stoppedText = ({ subscriptioncount, more }: Schemas['BlockEffect']) =>
  totalText({ count: subscriptioncount, isAtLeast: more });

/** What is under a block: how many subscriptions, whose, and what else. Each name leads to what is behind it. */
export function BlockEffect({ block, effect }: { block: Blocked; effect: Schemas['BlockEffect'] }) {
  const { origins, subscribers, subscriptioncount, grantcount, handshakecount, more } = effect;
  if (!more && subscriptioncount + grantcount + handshakecount + origins.length === 0)
    return <p>{t(texts.nothingStops)}</p>;
  const query = queryOf(block);
  const list = query && ((more?: object) => href('subscriptions', undefined, { ...query, ...more }));
  const total = (
    <>
      <b>{stoppedText(effect)}</b> {t(subscriptioncount === 1 ? texts.subscription : texts.subscriptions)}
    </>
  );
  return (
    <>
      <p class="total">{list === undefined || subscriptioncount === 0 ? total : <a href={list()}>{total}</a>}</p>
      {more && <p>{t(texts.more)}</p>}
      <dl class="facts">
        <dt>{t(texts.subscribers)}</dt>
        <dd>
          <Names names={subscribers} to={list && ((subscriber) => list({ subscriber }))} />
        </dd>
        <dt>{t(texts.origins)}</dt>
        <dd>
          <Names names={origins} to={isAdmin.value ? (name) => href('origins', name) : undefined} />
        </dd>
        <dt>{t(texts.grants)}</dt>
        <dd>{formatNumber(grantcount)}</dd>
        <dt>{t(texts.handshakes)}</dt>
        <dd>{formatNumber(handshakecount)}</dd>
      </dl>
    </>
  );
}

function Names({ names, to }: { names: readonly string[]; to: ((name: string) => string) | undefined }) {
  const shown = (name: string): ComponentChildren =>
    to === undefined ? <bdi>{name}</bdi> : <a href={to(name)}>{name}</a>;
  return (
    <>
      {names.length === 0 && '–'}
      {names.map((name, place) => (
        <span key={name}>
          {place > 0 && ', '}
          {shown(name)}
        </span>
      ))}
      {names.length === maxNames && ` (${t(texts.firstNames)})`}
    </>
  );
}

/** The search for its subscriptions, for the kinds that a search can show. The list has those of the own tenant. */
export function queryOf({ kind, value, tenant }: Blocked): Record<string, string> | undefined {
  if (!isAdmin.value || (tenant !== user.value?.tenant && tenant !== '*')) return undefined;
  if (kind === 'tenant') return {};
  if (kind === 'domain' || kind === 'network') return undefined;
  return { [kind === 'sink' ? 'sinkcontains' : kind]: value };
}
