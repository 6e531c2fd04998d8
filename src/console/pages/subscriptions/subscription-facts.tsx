import type { ComponentChildren } from 'preact';
import { formatNumber, t } from '../../app/text.js';
import { subscriptionMessages as messages } from '../../texts/subscription.js';
import { Time } from '../../ui/time.js';
import type { Subscription } from './use-subscription.js';

const json = (value: unknown) =>
  value === undefined ? undefined : (
    <pre tabIndex={0}>
      <code>{JSON.stringify(value, undefined, 2)}</code>
    </pre>
  );
const rate = (value: number | '*' | undefined) =>
  value === undefined ? undefined : t(messages.perMinute(value === '*' ? value : formatNumber(value)));

/** What is stored. Members that are absent are left out, apart from those that decide what matches. */
export function Facts({ subscription }: { subscription: Subscription }) {
  const { source, types, subject, filters, sinkcredential: credential, suspended, statusdetails } = subscription;
  const every = <span class="soft">{t(messages.every)}</span>;
  const facts: Array<[string, ComponentChildren]> = [
    [t(messages.sink), <bdi>{subscription.sink}</bdi>],
    [t(messages.origin), <bdi>{subscription.origin}</bdi>],
    [t(messages.subscriber), <bdi>{subscription.subscriber}</bdi>],
    [t(messages.source), source === undefined ? every : <bdi>{source}</bdi>],
    [t(messages.types), types?.length ? <List of={types} /> : every],
    [t(messages.subject), subject === undefined ? every : <bdi>{subject}</bdi>],
    [t(messages.filters), filters?.length ? json(filters) : every],
    [t(messages.requestedrate), rate(subscription.requestedrate)],
    [t(messages.allowedrate), rate(statusdetails.allowedrate)],
    [t(messages.grantEnds), statusdetails.expiresat && <Time at={statusdetails.expiresat} isExact />],
    [t(messages.ends), subscription.expiresat && <Time at={subscription.expiresat} isExact />],
    [
      t(messages.credential),
      credential && (
        <>
          {credential.credentialtype} · <Time at={credential.setat} isExact /> ·{' '}
          {t(messages.fingerprint(credential.fingerprint))}
          {credential.previous && (
            <>
              {' '}
              · {t(messages.previousUntil)} <Time at={credential.previous.until} isExact />
            </>
          )}
        </>
      ),
    ],
    [t(messages.callback), subscription.callback],
    [t(messages.settings), json(subscription.protocolsettings)],
    [t(messages.config), json(subscription.config)],
    [
      t(messages.price),
      subscription.price === undefined ? undefined : t(messages.steps(formatNumber(subscription.price))),
    ],
    [
      t(messages.suspended),
      suspended && (
        <>
          <Time at={suspended.at} isExact /> {t(messages.suspendedBy[suspended.by])}: <bdi>{suspended.reason}</bdi>
        </>
      ),
    ],
    [
      t(messages.warnings),
      subscription.warnings?.length ? (
        <List of={subscription.warnings.map(({ pointer, detail }) => `${pointer}: ${detail}`)} />
      ) : undefined,
    ],
    [t(messages.created), <Time at={subscription.createdat} isExact />],
    [t(messages.updated), <Time at={subscription.updatedat} isExact />],
    [t(messages.id), <code>{subscription.id}</code>],
  ];
  return (
    <section aria-labelledby="facts">
      <h2 id="facts">{t(messages.facts)}</h2>
      <dl class="facts">
        {facts
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => (
            <>
              <dt key={name}>{name}</dt>
              <dd>{value}</dd>
            </>
          ))}
      </dl>
    </section>
  );
}

function List({ of }: { of: readonly string[] }) {
  return (
    <ul class="plain">
      {of.map((text) => (
        <li key={text}>
          <bdi>{text}</bdi>
        </li>
      ))}
    </ul>
  );
}
