import { ChevronRight, Pencil } from 'lucide';
import type { ComponentChildren } from 'preact';
import { formatNumber, t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { filterTexts } from '../../texts/filters.js';
import { handshakePageTexts } from '../../texts/handshakes.js';
import { signingSecretTexts } from '../../texts/signing-secrets.js';
import { subscriptionPageTexts as texts } from '../../texts/subscriptions.js';
import { Icon } from '../../ui/icon.js';
import { later } from '../../ui/later.js';
import { Tabs } from '../../ui/tabs.js';
import { FactsCard, Sink, StatusBadge, Time } from '../../ui/value.js';
import { type ApiSubscription, follow, type SubscriptionDetails, useSubscription } from './use-subscription.js';
import { href, useName } from '../../app/route.js';
import { missingScopes } from '../../app/places.js';
import { Loaded } from '../../ui/form.js';
import { ActionMenu, AskAgain, ResumeButton } from './subscription-actions.js';
import { ChangesOf } from './subscription-changes.js';
import { Attempts, Deliveries, Handshakes } from './subscription-timeline.js';
import { SecretFacts } from './secret-facts.js';
import { conditionsOf } from './filter-conditions.js';
import { StatusNote } from './subscription-status.js';
import { WebhookLines } from './webhook-lines.js';

const json = (value: unknown) =>
  value === undefined ? undefined : (
    <pre tabIndex={0}>
      <code>{JSON.stringify(value, undefined, 2)}</code>
    </pre>
  );
const rate = (value: number | '*' | undefined) =>
  value === undefined ? undefined : t(texts.perMinute(value === '*' ? value : formatNumber(value)));

/** What is stored. Members that are absent are left out, apart from those that decide what matches. */
function Facts({ subscription }: { subscription: ApiSubscription }) {
  const {
    source,
    types,
    subject,
    filters,
    sinkcredential: credential,
    signingsecret,
    suspension,
    statusdetails,
  } = subscription;
  const every = <span class="soft">{t(texts.every)}</span>;
  const facts: Array<[string, ComponentChildren]> = [
    [t(texts.origin), <bdi>{subscription.origin}</bdi>],
    [t(texts.subscriber), <bdi>{subscription.subscriber}</bdi>],
    [t(texts.source), source === undefined ? every : <bdi>{source}</bdi>],
    [t(texts.types), types?.length ? <List of={types} /> : every],
    [t(texts.subject), subject === undefined ? every : <bdi>{subject}</bdi>],
    [t(texts.filters), filters?.length ? <Filters of={filters} /> : every],
    [t(texts.requestedrate), rate(subscription.requestedrate)],
    [t(texts.allowedrate), rate(statusdetails.allowedrate)],
    [t(texts.grantEnds), statusdetails.grantexpiresat && <Time at={statusdetails.grantexpiresat} look="exact" />],
    [t(texts.ends), subscription.expiresat && <Time at={subscription.expiresat} look="exact" />],
    [
      t(texts.credential),
      credential && (
        <>
          {credential.credentialtype} · <SecretFacts of={credential} />
        </>
      ),
    ],
    [t(signingSecretTexts.name), signingsecret && <SecretFacts of={signingsecret} />],
    [t(texts.callback), subscription.callback],
    [t(texts.settings), json(subscription.protocolsettings)],
    [t(texts.config), json(subscription.config)],
    [t(texts.price), subscription.price === undefined ? undefined : t(texts.steps(formatNumber(subscription.price)))],
    [
      t(texts.suspended),
      suspension && (
        <>
          <Time at={suspension.at} look="exact" /> {t(texts.suspendedBy[suspension.by])}
          {suspension.person && (
            <>
              {' ('}
              <bdi title={suspension.person.id}>{suspension.person.name ?? suspension.person.id}</bdi>)
            </>
          )}
          : <bdi>{suspension.reason}</bdi>
        </>
      ),
    ],
    [
      t(texts.warnings),
      subscription.warnings?.length ? (
        <List of={subscription.warnings.map(({ pointer, detail }) => `${pointer}: ${detail}`)} />
      ) : undefined,
    ],
    [t(texts.created), <Time at={subscription.createdat} look="exact" />],
    [t(texts.updated), <Time at={subscription.updatedat} look="exact" />],
    [t(texts.id), <code>{subscription.id}</code>],
  ];
  return <FactsCard title={t(texts.facts)} facts={facts} />;
}

/** As sentences, if all of them compare an attribute. */
function Filters({ of }: { of: readonly unknown[] }) {
  const found = conditionsOf(of);
  if (!found.every((each) => each.kind === 'compare')) return json(of);
  return (
    <List
      of={found.map(
        ({ attribute, operator, isNot, value }) =>
          `${attribute} ${t(filterTexts.operators[operator][isNot ? 1 : 0])} ${value}`,
      )}
    />
  );
}

function List({ of }: { of: readonly string[] }) {
  return (
    <ul class="plain">
      {of.map((text) => (
        <li key={text}>
          <bdi title={text}>{text}</bdi>
        </li>
      ))}
    </ul>
  );
}

/** Whether the lines to paste are what the reader needs now. */
export function needsLines({ status, statusdetails: { fixedby } }: ApiSubscription): boolean {
  return status !== 'active' && fixedby === 'headers';
}

/** What Assent asked for, or would ask. */
export function askedRate({ subscription, handshakes: [latest] }: SubscriptionDetails): number | undefined {
  const header = latest?.attempts.at(-1)?.request.find(({ name }) => name.toLowerCase() === 'webhook-request-rate');
  return header === undefined ? subscription.requestedrate : Number(header.value);
}

/** One subscription: where it stands, what to do, and every conversation with its webhook. */
export function OneSubscription({ id }: { id: string }) {
  const resource = useSubscription(id);
  const { data } = resource;
  useName(data?.subscription.sink);
  return (
    <>
      <nav class="path" aria-label={t(commonTexts.path)}>
        <a href={href('subscriptions')}>{t(commonTexts.menu.subscriptions)}</a>
        {data !== undefined && (
          <>
            <Icon of={ChevronRight} size={14} />
            <bdi>{data.subscription.subscriber}</bdi>
          </>
        )}
      </nav>
      {data === undefined ? (
        <h1>{t(texts.title)}</h1>
      ) : (
        <div class="title">
          <h1>
            <Sink sink={data.subscription.sink} />
          </h1>
          <StatusBadge status={data.subscription.status} />
          <span class="grow" />
          <ActionMenu read={data} resource={resource} />
          <a class="button" href={href('subscriptions', id, { tab: 'settings' })}>
            <Icon of={Pencil} />
            {t(texts.edit)}
          </a>
          <ResumeButton read={data} resource={resource} />
          <AskAgain read={data} reload={resource.reload} />
        </div>
      )}
      <Loaded of={resource}>
        {(read) => (
          <>
            <StatusNote subscription={read.subscription} />
            <Tabs label={t(texts.title)} of={tabsOf(read)}>
              {(name) => parts[name](read, (answer) => follow(resource, answer))}
            </Tabs>
          </>
        )}
      </Loaded>
    </>
  );
}

const EditSubscription = later(async () => (await import('./subscription-edit.js')).EditSubscription);

type Part = 'overview' | 'handshakes' | 'deliveries' | 'changes' | 'settings';
type Answer = Parameters<typeof follow>[1];

function tabsOf({ handshakes, olderCursor }: SubscriptionDetails) {
  const names = (Object.keys(parts) as Part[]).filter(
    (name) => name !== 'changes' || missingScopes('audit').length === 0,
  );
  const count = olderCursor === undefined ? handshakes.length : undefined;
  return names.map((name) => ({ name, title: t(texts.tabs[name]), count: name === 'handshakes' ? count : undefined }));
}

const parts: Record<Part, (read: SubscriptionDetails, onChanged: (answer: Answer) => void) => ComponentChildren> = {
  overview: (read) => <Overview read={read} />,
  handshakes: (read) => <Handshakes read={read} />,
  deliveries: ({ subscription: { id, origin, sink } }) => <Deliveries id={id} origin={origin} sink={sink} />,
  changes: ({ subscription: { id } }) => <ChangesOf target={`subscription:${id}`} />,
  settings: (read, onChanged) => <EditSubscription read={read} onChanged={onChanged} />,
};

function Overview({ read }: { read: SubscriptionDetails }) {
  const { subscription } = read;
  const { origin, sink, createdat, subscriber } = subscription;
  return (
    <div class="split">
      <section aria-labelledby="happened">
        <h2 id="happened">{t(handshakePageTexts.happened)}</h2>
        <ol class="timeline">
          {read.handshakes.slice(0, 3).map((handshake, place) => (
            <Attempts key={handshake.id} handshake={handshake} isOpen={place === 0} />
          ))}
          <li class="off">
            <div class="line-of">
              <b>{t(handshakePageTexts.registered)}</b>
              <span class="soft">
                {t(handshakePageTexts.by)} <bdi>{subscriber}</bdi>
              </span>
              <Time at={createdat} />
            </div>
          </li>
        </ol>
        <WebhookLines origin={origin} asked={askedRate(read)} sink={sink} isOpen={needsLines(subscription)} />
      </section>
      <Facts subscription={subscription} />
    </div>
  );
}
