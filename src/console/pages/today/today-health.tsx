import { api } from '../../app/api.js';
import { useResource } from '../../app/resource.js';
import { formatNumber, t } from '../../app/text.js';
import { todayMessages as messages } from '../../texts/today.js';
import { Loaded } from '../../ui/problem.js';
import { useEvery } from './today-attention.js';

const everyMs = 10_000;
/** As current as polling makes it. */
const usualSeconds = 3;

/** Whether the registry keeps up. */
export function Health() {
  const health = useResource('health', async (signal) => (await api.GET('/health', { signal })).data);
  useEvery(everyMs, health.reload);
  const seconds = (value: number) => formatNumber(Math.round(value));
  return (
    <section aria-labelledby="health">
      <h2 id="health">{t(messages.health)}</h2>
      <Loaded of={health}>
        {({ version, secondsbehind, secondslate, writable }) => (
          <dl class="facts">
            <dt>{t(messages.feedLag)}</dt>
            <dd>
              {secondsbehind === undefined
                ? t(messages.loading)
                : secondsbehind < usualSeconds
                  ? t(messages.current)
                  : `${seconds(secondsbehind)} ${t(messages.behind)}`}
            </dd>
            <dt>{t(messages.late)}</dt>
            <dd>
              {secondslate === undefined
                ? t(messages.unknown)
                : secondslate < usualSeconds
                  ? t(messages.onTime)
                  : `${seconds(secondslate)} ${t(messages.secondsLate)}`}
            </dd>
            <dt>{t(messages.changes)}</dt>
            <dd>{t(writable ? messages.possible : messages.readOnly)}</dd>
            <dt>{t(messages.version)}</dt>
            <dd>{version}</dd>
          </dl>
        )}
      </Loaded>
    </section>
  );
}
