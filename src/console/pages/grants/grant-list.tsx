import { useEffect, useState } from 'preact/hooks';
import { api, type Schemas } from '../../app/api.js';
import { readAll } from '../../app/read-all.js';
import { useResource } from '../../app/resource.js';
import { href, replaceQuery, route } from '../../app/route.js';
import { isAdmin } from '../../app/session.js';
import { t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { grantsTexts as texts } from '../../texts/grants.js';
import { Field } from '../../ui/field.js';
import { Loaded } from '../../ui/problem.js';
import { StatusBadge } from '../../ui/status.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { rateText } from '../origins/rate-text.js';

type Grant = Schemas['Grant'];

/** More would not be looked through by people; the filters find the others. */
const maxShown = 2_000;
const states = ['live', 'expired', 'blocked', 'ended', 'revoked'] as const;
const bases = ['response', 'callback', 'agreement', 'policy'] as const;
const days = ['1', '7', '30', '90'] as const;
const dayMs = 86_400_000;
const typingPauseMs = 300;

/** The grants that the filters leave, which are in the address. The first to expire comes first, or by sink. */
export function GrantList({ sortedBy, linkTo }: { sortedBy: 'end' | 'sink'; linkTo: (grant: Grant) => string }) {
  const { state, basis, origin, host, subscriber, within } = route.value.query;
  const list = useResource(
    JSON.stringify([state, basis, origin, host, subscriber, within]),
    async (signal) => {
      const until = within && new Date(Date.now() + Number(within) * dayMs).toISOString();
      const wanted = {
        ...(state && { state: state as Grant['state'] }),
        ...(basis && { basis: basis as Grant['basis'] }),
        ...(origin && { origin }),
        ...(host && { host }),
        ...(subscriber && { subscriber }),
        ...(until && { expiresuntil: until }),
      };
      const found = await readAll(maxShown, api.pages('/grants', { params: { query: wanted }, signal }));
      return { ...found, rows: found.rows.sort(orders[sortedBy]) };
    },
    ({ kind }) => kind.startsWith('grant.') || kind.startsWith('origin.'),
  );
  return (
    <>
      <Filters />
      <Loaded of={list}>
        {({ rows, isCut }) => (
          <>
            {isCut && <p class="note">{t(texts.cut)}</p>}
            {sortedBy === 'end' && rows.length > 0 && <p class="soft">{t(texts.byEnd)}</p>}
            {rows.length === 0 ? (
              <p>{t(commonTexts.nothing)}</p>
            ) : (
              <Table
                caption={t(commonTexts.menu[sortedBy === 'end' ? 'grants' : 'webhooks'])}
                rows={rows}
                keyOf={({ id }) => id}
                columns={[
                  {
                    key: 'sink',
                    title: t(texts.sink),
                    cell: (grant) => (
                      <a href={linkTo(grant)}>
                        <bdi>{grant.sink}</bdi>
                      </a>
                    ),
                  },
                  { key: 'origin', title: t(texts.origin), cell: (grant) => <bdi>{grant.origin}</bdi> },
                  { key: 'state', title: t(texts.state), cell: (grant) => <StatusBadge status={grant.state} /> },
                  {
                    key: 'rate',
                    title: t(texts.rate),
                    isNumber: true,
                    cell: ({ allowedrate }) => rateText(allowedrate),
                  },
                  { key: 'end', title: t(texts.expires), cell: ({ expiresat }) => <Time at={expiresat} /> },
                  {
                    key: 'basis',
                    title: t(texts.basis),
                    cell: (grant) => (
                      <>
                        {t(texts.bases[grant.basis])} <bdi>{grant.reference}</bdi>
                      </>
                    ),
                  },
                  { key: 'hold', title: t(texts.hold), cell: ({ helduntil }) => <Time at={helduntil} /> },
                ]}
              />
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

/** Those that are over come last, the latest first. */
const isOver = ({ state }: Grant) => state !== 'live' && state !== 'blocked';

const orders = {
  end: (one: Grant, other: Grant) =>
    Number(isOver(one)) - Number(isOver(other)) ||
    one.expiresat.localeCompare(other.expiresat) * (isOver(one) ? -1 : 1),
  sink: (one: Grant, other: Grant) => one.sink.localeCompare(other.sink) || one.origin.localeCompare(other.origin),
};

function Filters() {
  return (
    <section class="filters" aria-label={t(texts.filters)}>
      <Choice name="state" label={t(texts.state)} options={states} text={(each) => t(commonTexts.statuses[each])} />
      <Choice name="basis" label={t(texts.basis)} options={bases} text={(each) => t(texts.bases[each])} />
      <Choice name="within" label={t(texts.within)} options={days} text={(each) => t(texts.days[each])} />
      <Typed name="host" label={t(texts.host)} />
      <Typed name="origin" label={t(texts.origin)} />
      {isAdmin.value && <Typed name="subscriber" label={t(texts.subscriber)} />}
    </section>
  );
}

const setFilter = (name: string, value: string) => replaceQuery({ ...route.value.query, [name]: value });

function Choice<T extends string>(props: {
  name: string;
  label: string;
  options: readonly T[];
  text: (option: T) => string;
}) {
  const { name, label, options, text } = props;
  return (
    <Field label={label}>
      {(attributes) => (
        <select
          {...attributes}
          value={route.value.query[name] ?? ''}
          onChange={({ currentTarget }) => setFilter(name, currentTarget.value)}
        >
          <option value="">{t(commonTexts.all)}</option>
          {options.map((option) => (
            <option key={option} value={option}>
              {text(option)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Searches when the typing pauses. */
function Typed({ name, label }: { name: string; label: string }) {
  const [text, setText] = useState(route.value.query[name] ?? '');
  useEffect(() => {
    if (text.trim() === (route.value.query[name] ?? '')) return undefined;
    const timer = setTimeout(() => setFilter(name, text.trim()), typingPauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <Field label={label}>
      {(attributes) => (
        <input
          {...attributes}
          type="search"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      )}
    </Field>
  );
}

export const webhookHref = ({ origin, sink }: { origin: string; sink: string }) =>
  href('webhooks', undefined, { origin, sink });
