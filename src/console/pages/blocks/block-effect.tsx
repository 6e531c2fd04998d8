import type { ComponentChildren } from 'preact';
import { api, type Schemas } from '../../app/api.js';
import { href } from '../../app/route.js';
import { isAdmin, isOperator, user } from '../../app/session.js';
import { formatNumber, t, announce } from '../../app/text.js';
import { blocksTexts as texts } from '../../texts/blocks.js';
import { useState } from 'preact/hooks';
import { useAction } from '../../app/live.js';
import { Confirm } from '../../ui/dialog.js';
import { ReferenceField, referenceHeader } from '../../ui/form.js';

export type ApiBlockKind = Schemas['BlockKind'];
type Blocked = Pick<Schemas['Block'], 'kind' | 'value' | 'tenant'>;

const maxNames = 20;

/** What is under a block: counts, the first names, and the list of its subscriptions if a filter can show them. */
export function BlockEffectCard({ block, effect }: { block: Blocked; effect: Schemas['BlockEffect'] }) {
  const { origins, subscribers, subscriptioncount, grantcount, handshakecount, more } = effect;
  if (!more && subscriptioncount + grantcount + handshakecount + origins.length === 0)
    return <p>{t(texts.nothingStops)}</p>;
  const list = subscriptionsUnder(block);
  return (
    <>
      {more && <p class="note">{t(texts.more)}</p>}
      <dl class="facts">
        <Fact name={t(texts.subscriptions)}>
          {formatNumber(subscriptioncount)}
          {list !== undefined && subscriptioncount > 0 && (
            <>
              {' · '}
              <a href={list}>{t(texts.showSubscriptions)}</a>
            </>
          )}
        </Fact>
        <Fact name={t(texts.grants)}>{formatNumber(grantcount)}</Fact>
        <Fact name={t(texts.handshakes)}>{formatNumber(handshakecount)}</Fact>
        <Fact name={t(texts.origins)}>
          <Names names={origins} page="origins" />
        </Fact>
        <Fact name={t(texts.subscribers)}>
          <Names names={subscribers} />
        </Fact>
      </dl>
    </>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Names({ names, page }: { names: readonly string[]; page?: string }) {
  return (
    <>
      {names.length === 0 && '–'}
      {names.map((name, place) => (
        <span key={name}>
          {place > 0 && ', '}
          {page !== undefined && isAdmin.value ? <a href={href(page, name)}>{name}</a> : <bdi>{name}</bdi>}
        </span>
      ))}
      {names.length === maxNames && ` (${t(texts.firstNames)})`}
    </>
  );
}

/** The list of subscriptions, for the kinds that one of its filters shows exactly. It has those of the own tenant. */
function subscriptionsUnder({ kind, value, tenant }: Blocked): string | undefined {
  if (!isAdmin.value || (tenant !== user.value?.tenant && tenant !== '*')) return undefined;
  if (kind === 'tenant') return href('subscriptions');
  if (kind === 'domain' || kind === 'network') return undefined;
  return href('subscriptions', undefined, { [kind]: value });
}

type Block = Schemas['Block'];

/** A button with its question, or why there is none. */
export function LiftBlock({ block, onLifted }: { block: Block; onLifted: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const [reference, setReference] = useState('');
  const action = useAction();
  const { id, value, byoperator } = block;
  if (byoperator && !isOperator.value) return <span class="soft">{t(texts.operatorOnly)}</span>;
  const lift = async () => {
    await api.DELETE('/blocks/{id}', { params: { path: { id }, header: referenceHeader(reference) } });
    announce(t(texts.lifted));
    onLifted();
  };
  return (
    <>
      <button type="button" aria-label={`${t(texts.liftThis)}: ${value}`} onClick={() => setOpen(true)}>
        {t(texts.lift)}
      </button>
      {isOpen && (
        <Confirm
          title={t(texts.liftTitle).replace('{value}', () => value)}
          confirm={t(texts.liftThis)}
          action={action}
          onConfirm={lift}
          onClose={() => {
            action.clear();
            setOpen(false);
          }}
        >
          <p>{t(texts.liftText)}</p>
          <ReferenceField value={reference} onInput={setReference} />
        </Confirm>
      )}
    </>
  );
}
