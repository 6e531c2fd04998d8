import { useState } from 'preact/hooks';
import { useAction } from '../../app/resource.js';
import { t } from '../../app/text.js';
import { handshakeTexts as texts, subscriptionTexts } from '../../texts/subscription.js';
import { ProblemView } from '../../ui/problem.js';
import { Time } from '../../ui/time.js';
import { Exchange } from './subscription-exchange.js';
import { RejectedCallback } from './subscription-status.js';
import { readHandshakes, type Handshake, type SubscriptionDetails } from './use-subscription.js';

const looks: Partial<Record<Handshake['state'], string>> = {
  granted: 'good',
  due: 'open',
  asking: 'open',
  waiting: 'open',
  cancelled: 'off',
};

/** Every handshake, newest first. The newest is open. */
export function Timeline({ read }: { read: SubscriptionDetails }) {
  const [older, setOlder] = useState<{ handshakes: readonly Handshake[]; cursor: string | undefined }>();
  const action = useAction();
  const cursor = older === undefined ? read.olderCursor : older.cursor;
  const readOlder = async () => {
    const { data, next } = await readHandshakes(read.subscription.id, cursor);
    setOlder({ handshakes: [...(older?.handshakes ?? []), ...data], cursor: next });
  };
  const known = new Set(read.handshakes.map(({ id }) => id));
  const all = [...read.handshakes, ...(older?.handshakes ?? []).filter(({ id }) => !known.has(id))];
  return (
    <section aria-labelledby="handshakes">
      <h2 id="handshakes">{t(texts.title)}</h2>
      <p>{t(all.length === 0 ? texts.none : texts.hint)}</p>
      <ol class="timeline">
        {all.map((handshake, place) => (
          <li key={handshake.id} class="card">
            <HandshakeCard handshake={handshake} isOpen={place === 0} />
          </li>
        ))}
      </ol>
      <ProblemView problem={action.problem} />
      {cursor !== undefined && (
        <button type="button" disabled={action.isBusy} onClick={() => void action.run(readOlder)}>
          {t(texts.older)}
        </button>
      )}
    </section>
  );
}

function HandshakeCard({ handshake, isOpen }: { handshake: Handshake; isOpen: boolean }) {
  const { sink, reason, state, verdict, message, advice, fixedby = 'nobody', next, nextat } = handshake;
  const { createdat, attempts, rejectedcallback } = handshake;
  return (
    <details open={isOpen}>
      <summary>
        <h3 class="in-line">
          <Time at={createdat} isExact /> · {t(texts.reasons[reason])}
        </h3>{' '}
        <span class={`badge ${looks[state] ?? 'bad'}`}>{t(texts.states[state])}</span>{' '}
        {verdict !== undefined && <code>{verdict}</code>}
      </summary>
      {message !== undefined && (
        <p>
          <bdi>{message}</bdi>
        </p>
      )}
      {advice !== undefined && (
        <p>
          <strong>{t(subscriptionTexts.toDo[fixedby])}</strong> <bdi>{advice}</bdi>
        </p>
      )}
      {nextat !== undefined && (
        <p>
          <strong>{t(subscriptionTexts.next)}</strong> {next} <Time at={nextat} />
        </p>
      )}
      <RejectedCallback of={rejectedcallback} />
      {attempts.map((attempt) => (
        <Exchange key={attempt.number} sink={sink} attempt={attempt} isAlone={attempts.length === 1} />
      ))}
    </details>
  );
}
