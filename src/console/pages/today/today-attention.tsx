import { useEffect } from 'preact/hooks';
import { useResource } from '../../app/resource.js';
import { isAdmin } from '../../app/session.js';
import { formatNumber, language, t } from '../../app/text.js';
import { todayTexts as texts } from '../../texts/today.js';
import { Loaded } from '../../ui/problem.js';
import { Time } from '../../ui/time.js';
import { readAttention, type Group } from './attention.js';

/** What no change announces, such as a hold that ends, appears at least this often. */
const everyMs = 30_000;

/** Reads again from time to time, while the page can be seen. */
export function useEvery(ms: number, work: () => void): void {
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && work(), ms);
    return () => clearInterval(timer);
  }, []);
}

export function Attention() {
  const seesGrants = isAdmin.value;
  const groups = useResource(
    `attention ${seesGrants} ${language.value}`,
    (signal) => readAttention(seesGrants, signal),
    () => true,
  );
  useEvery(everyMs, groups.reload);
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">{t(texts.lead)}</h2>
      <Loaded of={groups}>
        {(found) =>
          found.length === 0 ? (
            <p class="note">{t(texts.nothing)}</p>
          ) : (
            <div class="cards">
              {found.map((group) => (
                <GroupCard key={group.name} group={group} />
              ))}
            </div>
          )
        }
      </Loaded>
    </section>
  );
}

function GroupCard({ group: { name, count, isAtLeast, first, address } }: { group: Group }) {
  const { title, hint } = texts.groups[name];
  const number = `${formatNumber(count)}${isAtLeast ? '+' : ''}`;
  return (
    <section class="card" aria-labelledby={`group-${name}`}>
      <h3 id={`group-${name}`}>
        {t(title)}: {number}
      </h3>
      <p class="soft">{t(hint)}</p>
      <ul>
        {first.map(({ id, sink, address: place, message, at }) => (
          <li key={id}>
            <a href={place}>
              <bdi>{sink}</bdi>
            </a>
            {message !== undefined && (
              <>
                {' '}
                <bdi>{message}</bdi>
              </>
            )}
            {at !== undefined && (
              <>
                {' '}
                {t(name === 'held' ? texts.holdEnds : texts.expires)} <Time at={at} />
              </>
            )}
          </li>
        ))}
      </ul>
      {(count > first.length || isAtLeast) && (
        <p>
          <a href={address}>
            {t(texts.showAll)}: {t(title)}, {number}
          </a>
        </p>
      )}
    </section>
  );
}
