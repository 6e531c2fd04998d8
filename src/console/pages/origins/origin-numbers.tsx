import { Check, CirclePause, CircleX, ShieldCheck } from 'lucide';
import { api, type Schemas } from '../../app/api.js';
import { isBlock, useResource, useEvery } from '../../app/live.js';
import { href } from '../../app/route.js';
import { isAdmin } from '../../app/session.js';
import { formatNumber, locale, t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { numberTexts, originsTexts as texts } from '../../texts/origins.js';
import { Icon } from '../../ui/icon.js';
import type { totalText } from '../../ui/search.js';
import type { TableColumn } from '../../ui/table.js';
import { Badge } from '../../ui/value.js';
import { LiftButton } from '../blocks/lift-block.js';

type Total = Schemas['StatisticTotal'];
type Block = Schemas['Block'];
export type Count = Parameters<typeof totalText>[0];
/** By the values of `sort`. */
type Sort = `-${keyof typeof numberTexts}`;

/** An origin, or a host of sinks. */
export interface NumberedRow {
  name: string;
  total: Total | undefined;
  /** In force on it alone, or on the whole tenant. */
  block: Block | undefined;
}

const maxRows = 200;
const pauseMs = 30_000;

/** What happened in the last 24 hours. Numbers are not in the feed, so they are read again from time to time. */
export function useTotals(by: 'origin' | 'host', { sort, name }: { sort?: string | undefined; name?: string } = {}) {
  const order = sorts.find((each) => each === sort);
  const resource = useResource(
    `totals ${by} ${order} ${name}`,
    async (signal) => {
      if (!isAdmin.value) return { entries: [], more: false };
      const query = { by, limit: maxRows, ...(order && { sort: order }), ...(name !== undefined && { name }) };
      return (await api.GET('/statistics/totals', { params: { query }, signal })).data;
    },
    isBlock,
  );
  useEvery(pauseMs, resource.reload);
  return resource;
}

const valueOf: Record<keyof typeof numberTexts, (total: Total) => number> = {
  deliveries: ({ deliverycount }) => deliverycount,
  failures: ({ failurecount }) => failurecount,
  throttled: ({ throttledcount }) => throttledcount,
  gone: ({ gonecount }) => gonecount,
  refusals: ({ refusalcount }) => refusalcount,
  used: ({ usedcount, allowedcount }) => (allowedcount === 0 ? 0 : usedcount / allowedcount),
};
export const numberNames = Object.keys(numberTexts) as Array<keyof typeof numberTexts>;
const sorts = numberNames.map((name): Sort => `-${name}`);
/** From this part of the deliveries on, failures stand out. */
const manyFailures = 0.1;

export function NumberOf({ name, total }: { name: keyof typeof numberTexts; total: Total | undefined }) {
  const value = total === undefined ? 0 : valueOf[name](total);
  if (value === 0) return <>–</>;
  const text = name === 'used' ? value.toLocaleString(locale.value, { style: 'percent' }) : formatNumber(value);
  const isMany = name === 'failures' && value >= manyFailures * (total?.deliverycount ?? 0);
  return isMany ? <b class="bad">{text}</b> : <>{text}</>;
}

const widths: Record<keyof typeof numberTexts, string> = {
  deliveries: '100px',
  failures: '88px',
  throttled: '64px',
  gone: '64px',
  refusals: '94px',
  used: '74px',
};

export function numberColumns<Row extends NumberedRow>(): Array<TableColumn<Row>> {
  return numberNames.map((name) => ({
    key: name,
    title: t(numberTexts[name]),
    width: widths[name],
    isNumber: true,
    ...(name !== 'failures' && {
      from: name === 'gone' || name === 'used' ? ('desktop' as const) : ('tablet' as const),
    }),
    sorts: [`-${name}`],
    cell: ({ total }) => <NumberOf name={name} total={total} />,
  }));
}

/** A block that stops all of it, which can be lifted. */
export const blockOn = (blocks: readonly Block[] | undefined, kind: Block['kind'], name: string) =>
  blocks?.find((block) => block.kind === 'tenant' || (block.kind === kind && block.value === name));

export const isBlocked = ({ block, total }: NumberedRow): boolean => block !== undefined || total?.blocked === true;

export const BlockedBadge = () => (
  <Badge look="bad" icon={CircleX}>
    {t(commonTexts.statuses.blocked)}
  </Badge>
);

/** Stops it, or starts it again. */
export function stopColumn<Row extends NumberedRow>(kind: 'origin' | 'host', onLifted: () => void): TableColumn<Row> {
  return {
    key: 'stop',
    title: '',
    width: 'min(148px, 18vw)',
    cell: (row) => {
      if (row.block !== undefined) return <LiftButton block={row.block} look="quiet" onLifted={onLifted} />;
      if (isBlocked(row)) return <a href={href('blocks')}>{t(commonTexts.menu.blocks)}</a>;
      return (
        <a class="button quiet" href={stopAddress(kind, row.name)} aria-label={`${t(texts.stopHour)}: ${row.name}`}>
          <Icon of={CirclePause} />
          <span class="from-tablet">{t(texts.stopHour)}</span>
        </a>
      );
    },
  };
}

/** The form that blocks it, filled in. */
export const stopAddress = (kind: 'origin' | 'host', value: string, until: 'hour' | undefined = 'hour') =>
  href('new-block', undefined, { kind, value, until });

export const DefaultBadge = () => (
  <Badge look="off" icon={Check}>
    {t(texts.default)}
  </Badge>
);

export const isVerified = ({ verification }: Schemas['Origin']) => verification.state !== 'unverified';

/** Its tenant proved that the name is its own. */
export const VerifiedBadge = () => (
  <Badge look="good" icon={ShieldCheck}>
    {t(texts.verified)}
  </Badge>
);

/** Each is a request of its own: a longer list does not count. */
export const maxCounted = 30;

/** How many subscriptions each origin has. */
export function useSubscriptionCounts(names: readonly string[]) {
  const { data } = useResource(`counts ${names.join()}`, async (signal) => {
    const counted = names.length > maxCounted || !isAdmin.value ? [] : names;
    const counts = counted.map(async (origin): Promise<[string, Count]> => {
      const { headers } = await api.GET('/subscriptions', {
        params: { query: { origin, limit: 1, count: true } },
        signal,
      });
      const isAtLeast = headers.get('X-Total-Count-At-Least') !== null;
      return [origin, { count: Number(headers.get('X-Total-Count')), isAtLeast }];
    });
    return new Map(await Promise.all(counts));
  });
  return data;
}
