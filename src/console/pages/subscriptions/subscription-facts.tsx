import type { ComponentChildren } from 'preact';
import { formatNumber, t } from '../../app/text.js';
import { subscriptionTexts as texts } from '../../texts/subscription.js';
import { Time } from '../../ui/time.js';
import type { Subscription } from './use-subscription.js';

const json = (value: unknown) =>
  value === undefined ? undefined : (
    <pre tabIndex={0}>
      <code>{JSON.stringify(value, undefined, 2)}</code>
    </pre>
  );
const rate = (value: number | '*' | undefined) =>
  value === undefined ? undefined : t(texts.perMinute(value === '*' ? value : formatNumber(value)));

/** What is stored. Members that are absent are left out, apart from those that decide what matches. */
export function Facts({ subscription }: { subscription: Subscription }) {
  const { source, types, subject, filters, sinkcredential: credential, suspended, statusdetails } = subscription;
  const every = <span class="soft">{t(texts.every)}</span>;
  const facts: Array<[string, ComponentChildren]> = [
    [t(texts.sink), <bdi>{subscription.sink}</bdi>],
    [t(texts.origin), <bdi>{subscription.origin}</bdi>],
    [t(texts.subscriber), <bdi>{subscription.subscriber}</bdi>],
    [t(texts.source), source === undefined ? every : <bdi>{source}</bdi>],
    [t(texts.types), types?.length ? <List of={types} /> : every],
    [t(texts.subject), subject === undefined ? every : <bdi>{subject}</bdi>],
    [t(texts.filters), filters?.length ? json(filters) : every],
    [t(texts.requestedrate), rate(subscription.requestedrate)],
    [t(texts.allowedrate), rate(statusdetails.allowedrate)],
    [t(texts.grantEnds), statusdetails.expiresat && <Time at={statusdetails.expiresat} isExact />],
    [t(texts.ends), subscription.expiresat && <Time at={subscription.expiresat} isExact />],
    [
      t(texts.credential),
      credential && (
        <>
          {credential.credentialtype} · <Time at={credential.setat} isExact /> ·{' '}
          {t(texts.fingerprint(credential.fingerprint))}
          {credential.previous && (
            <>
              {' '}
              · {t(texts.previousUntil)} <Time at={credential.previous.until} isExact />
            </>
          )}
        </>
      ),
    ],
    [t(texts.callback), subscription.callback],
    [t(texts.settings), json(subscription.protocolsettings)],
    [t(texts.config), json(subscription.config)],
    [t(texts.price), subscription.price === undefined ? undefined : t(texts.steps(formatNumber(subscription.price)))],
    [
      t(texts.suspended),
      suspended && (
        <>
          <Time at={suspended.at} isExact /> {t(texts.suspendedBy[suspended.by])}: <bdi>{suspended.reason}</bdi>
        </>
      ),
    ],
    [
      t(texts.warnings),
      subscription.warnings?.length ? (
        <List of={subscription.warnings.map(({ pointer, detail }) => `${pointer}: ${detail}`)} />
      ) : undefined,
    ],
    [t(texts.created), <Time at={subscription.createdat} isExact />],
    [t(texts.updated), <Time at={subscription.updatedat} isExact />],
    [t(texts.id), <code>{subscription.id}</code>],
  ];
  return (
    <section aria-labelledby="facts">
      <h2 id="facts">{t(texts.facts)}</h2>
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
