import { useEffect, useState } from 'preact/hooks';
import { api, type Schemas } from '../../app/api.js';
import { type Everything, isBlock, readAll, useAction, useKey, useResource } from '../../app/live.js';
import { dropDraft, useDraft } from '../../app/draft.js';
import { go, href, replaceQuery, route } from '../../app/route.js';
import { isAdmin } from '../../app/session.js';
import { announce, formatNumber, t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { grantsTexts as texts } from '../../texts/grants.js';
import {
  Form,
  Loaded,
  missing,
  ProblemView,
  ReferenceField,
  referenceHeader,
  SelectField,
  TextField,
} from '../../ui/form.js';
import { StatusBadge, Time, rateText } from '../../ui/value.js';
import { Table } from '../../ui/table.js';
import { GrantCard } from './grant-card.js';

type Grant = Schemas['Grant'];

const perPage = 200;
const states = ['live', 'expired', 'blocked', 'ended', 'revoked'] as const;
const bases = ['response', 'callback', 'agreement', 'policy'] as const;
const days = ['1', '7', '30', '90'] as const;
const yesOrNo = ['true', 'false'] as const;
const dayMs = 86_400_000;
const typingPauseMs = 300;

type GrantSearch = NonNullable<Parameters<typeof api.pages<'/grants'>>[1]>['params'];

/**
 * The first to expire comes first, and those that have expired come last, the latest first. The registry has this order, so
 * it is that of all grants and not of those that were read.
 */
async function readInOrder(
  query: NonNullable<NonNullable<GrantSearch>['query']>,
  max: number,
  signal: AbortSignal,
): Promise<Everything<Grant>> {
  const now = new Date().toISOString();
  const until = query.expiresuntil ?? now;
  const read = (part: typeof query, count: number) =>
    readAll(count, api.pages('/grants', { params: { query: { ...query, ...part } }, signal }));
  const coming = await read({ sort: 'expiresat', expiressince: now }, max);
  if (coming.isCut) return coming;
  const expiresuntil = until < now ? until : now;
  const over = await read({ sort: '-expiresat', expiresuntil }, Math.max(1, max - coming.rows.length));
  return { rows: [...coming.rows, ...over.rows], isCut: over.isCut };
}

/** A choice that is in the address. Another text there chooses nothing. */
function chosen<T extends string>(name: string, options: readonly T[]): T | undefined {
  return options.find((each) => each === route.value.query[name]);
}

/** The grants that the filters leave, which are in the address, in the order of their expiry. */
export function GrantList({ caption, linkTo }: { caption: string; linkTo: (grant: Grant) => string }) {
  const { origin, host, subscriber } = route.value.query;
  const [state, basis, within, renews, held] = [
    chosen('state', states),
    chosen('basis', bases),
    chosen('within', days),
    chosen('renews', yesOrNo),
    chosen('held', yesOrNo),
  ];
  const [max, setMax] = useState(perPage);
  const list = useResource(
    JSON.stringify([state, basis, origin, host, subscriber, within, renews, held]),
    (signal) => {
      const until = within && new Date(Date.now() + Number(within) * dayMs).toISOString();
      const wanted = {
        ...(state && { state }),
        ...(basis && { basis }),
        ...(origin && { origin }),
        ...(host && { host }),
        ...(subscriber && { subscriber }),
        ...(until && { expiresuntil: until }),
        ...(renews && { renews: renews === 'true' }),
        ...(held && { held: held === 'true' }),
      };
      return readInOrder(wanted, max, signal);
    },
    (change) => change.kind.startsWith('grant.') || change.kind.startsWith('origin.') || isBlock(change),
  );
  const showMore = () => {
    setMax(max + perPage);
    list.reload();
  };
  return (
    <>
      <Filters />
      <Loaded of={list}>
        {({ rows, isCut }) => (
          <>
            {rows.length > 0 && <p class="soft">{t(texts.byEnd)}</p>}
            {rows.length === 0 ? (
              <p>{t(commonTexts.nothing)}</p>
            ) : (
              <Table
                caption={caption}
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
                        {t(texts.bases[grant.basis])} <bdi>{grant.agreement}</bdi>
                      </>
                    ),
                  },
                  { key: 'hold', title: t(texts.hold), cell: ({ helduntil }) => <Time at={helduntil} /> },
                ]}
              />
            )}
            {isCut && (
              <div class="actions">
                <p role="status">{t(texts.cut(formatNumber(rows.length)))}</p>
                <button type="button" disabled={list.isLoading} onClick={showMore}>
                  {t(texts.showMore)}
                </button>
              </div>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

function Filters() {
  return (
    <section class="filters" aria-label={t(texts.filters)}>
      <Choice name="state" label={t(texts.state)} options={states} text={(each) => t(commonTexts.statuses[each])} />
      <Choice name="basis" label={t(texts.basis)} options={bases} text={(each) => t(texts.bases[each])} />
      <Choice name="within" label={t(texts.within)} options={days} text={(each) => t(texts.days[each])} />
      <Choice name="renews" label={t(texts.renewal)} options={yesOrNo} text={(each) => t(texts.renewed[each])} />
      <Choice name="held" label={t(texts.hold)} options={yesOrNo} text={(each) => t(texts.holds[each])} />
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
    <SelectField
      label={label}
      none={t(commonTexts.all)}
      value={chosen(name, options) ?? ''}
      options={options}
      textOf={text}
      onChange={(value) => setFilter(name, value)}
    />
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
  return <TextField label={label} type="search" spellcheck={false} value={text} onInput={setText} />;
}

export const webhookHref = ({ origin, sink }: { origin: string; sink: string }) =>
  href('webhooks', undefined, { origin, sink });

const places = ['/origin', '/sink', '/allowedrate', '/expiresat', '/agreement', 'header/audit-reference'];

/**
 * `#/grants?agree=ID` approves the subscription with this id; `#/grants?agree=new&origin=…&sink=…` begins with these.
 */
function Agreement({ of }: { of: string }) {
  const subscription = useResource(`agree/${of}`, async (signal) =>
    of === 'new' ? undefined : (await api.GET('/subscriptions/{id}', { params: { path: { id: of } }, signal })).data,
  );
  const origins = useResource('origins', async (signal) => {
    const { rows } = await readAll(1_000, api.pages('/origins', { signal }));
    return rows;
  });
  const isThere = of === 'new' || subscription.data !== undefined;
  return (
    <>
      <p>
        <a href={href('grants')}>{t(texts.backToGrants)}</a>
      </p>
      <h1>{t(texts.agree)}</h1>
      <p>{t(texts.agreeLead)}</p>
      <ProblemView problem={subscription.problem} onRetry={subscription.reload} />
      <Loaded of={origins}>
        {(rows) => isThere && <AgreementForm origins={rows} subscription={subscription.data} />}
      </Loaded>
    </>
  );
}

function AgreementForm({
  origins,
  subscription,
}: {
  origins: ReadonlyArray<Schemas['Origin']>;
  subscription: Schemas['Subscription'] | undefined;
}) {
  const { query } = route.value;
  const keyOf = useKey();
  const draft = `agreement ${subscription?.id ?? query['sink'] ?? ''}`;
  const [form, setForm] = useDraft(draft, {
    origin: subscription?.origin ?? query['origin'] ?? origins.find(({ isdefault }) => isdefault)?.name ?? '',
    sink: subscription?.sink ?? query['sink'] ?? '',
    rate: String(subscription?.requestedrate ?? query['rate'] ?? 60),
    isUnlimited: false,
    day: aYearFromNow(),
    agreement: '',
    ticket: '',
  });
  const action = useAction();
  const change = (part: Partial<typeof form>) => setForm((before) => ({ ...before, ...part }));
  const field = (pointer: string) => ({ problem: action.problem, pointer });
  const check = () =>
    missing({ '/sink': [t(texts.sink), form.sink], '/agreement': [t(texts.agreement), form.agreement] });
  const submit = async () => {
    const body = {
      origin: form.origin,
      sink: form.sink.trim(),
      allowedrate: form.isUnlimited ? ('*' as const) : Number(form.rate),
      expiresat: endOf(form.day),
      agreement: form.agreement,
    };
    const header = { 'Idempotency-Key': keyOf(body), ...referenceHeader(form.ticket) };
    const { data } = await api.POST('/grants', { params: { header }, body });
    dropDraft(draft);
    announce(t(texts.agreed));
    go(subscription === undefined ? href('grants', data.id) : href('subscriptions', subscription.id));
  };
  return (
    <Form action={action} check={check} isKept onSubmit={submit}>
      {subscription !== undefined && (
        <p class="note">
          {t(texts.approves)} <a href={href('subscriptions', subscription.id)}>{subscription.id}</a>
        </p>
      )}
      <SelectField
        label={t(texts.origin)}
        {...field('/origin')}
        value={form.origin}
        options={origins.map(({ name }) => name)}
        textOf={(name) => name}
        onChange={(origin) => change({ origin })}
      />
      <TextField
        label={t(texts.sink)}
        {...field('/sink')}
        inputMode="url"
        spellcheck={false}
        value={form.sink}
        onInput={(value) => change({ sink: value })}
      />
      <TextField
        label={t(texts.rate)}
        {...field('/allowedrate')}
        type="number"
        min={1}
        disabled={form.isUnlimited}
        value={form.rate}
        onInput={(value) => change({ rate: value })}
      />
      <p>
        <label class="choice">
          <input
            type="checkbox"
            checked={form.isUnlimited}
            onChange={({ currentTarget }) => change({ isUnlimited: currentTarget.checked })}
          />{' '}
          {t(texts.noLimitChoice)}
        </label>
      </p>
      <TextField
        label={t(texts.lastDay)}
        hint={t(texts.lastDayHint)}
        {...field('/expiresat')}
        type="date"
        value={form.day}
        onInput={(value) => change({ day: value })}
      />
      <TextField
        label={t(texts.agreement)}
        hint={t(texts.agreementHint)}
        {...field('/agreement')}
        value={form.agreement}
        onInput={(value) => change({ agreement: value })}
      />
      <ReferenceField problem={action.problem} value={form.ticket} onInput={(ticket) => change({ ticket })} />
      <ProblemView problem={action.problem} shownAt={places} />
      <div class="actions">
        <button type="submit" class="first" disabled={action.isBusy}>
          {t(action.isBusy ? commonTexts.busy : texts.agree)}
        </button>
      </div>
    </Form>
  );
}

function aYearFromNow(): string {
  const day = new Date();
  day.setFullYear(day.getFullYear() + 1);
  return day.toISOString().slice(0, 10);
}

/** The end of a day where the user is. What is no day goes to the registry as it is, which says what is wrong. */
function endOf(day: string): string {
  const end = new Date(`${day}T23:59:59`);
  return Number.isNaN(end.getTime()) ? day : end.toISOString();
}

/** `#/grants`, one of them (`#/grants/ID`), and the form for an agreement (`#/grants?agree=…`). */
export function Grants({ id }: { id?: string | undefined }) {
  const { agree } = route.value.query;
  if (id !== undefined) {
    return (
      <>
        <p>
          <a href={href('grants')}>{t(texts.backToGrants)}</a>
        </p>
        <h1>{t(texts.grant)}</h1>
        <GrantCard id={id} />
      </>
    );
  }
  if (agree !== undefined && isAdmin.value) return <Agreement key={agree} of={agree} />;
  return (
    <>
      <h1>{t(commonTexts.menu.grants)}</h1>
      {isAdmin.value && (
        <p>
          <a class="button" href={href('grants', undefined, { agree: 'new' })}>
            {t(texts.agree)}
          </a>
        </p>
      )}
      <GrantList caption={t(commonTexts.menu.grants)} linkTo={(grant) => href('grants', grant.id)} />
    </>
  );
}
