import { api } from '../../app/api.js';
import { useResource } from '../../app/resource.js';
import { formatNumber, t } from '../../app/text.js';
import { todayTexts as texts } from '../../texts/today.js';
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
      <h2 id="health">{t(texts.health)}</h2>
      <Loaded of={health}>
        {({ version, secondsbehind, secondslate, writable }) => (
          <dl class="facts">
            <dt>{t(texts.feedLag)}</dt>
            <dd>
              {secondsbehind === undefined
                ? t(texts.loading)
                : secondsbehind < usualSeconds
                  ? t(texts.current)
                  : `${seconds(secondsbehind)} ${t(texts.behind)}`}
            </dd>
            <dt>{t(texts.late)}</dt>
            <dd>
              {secondslate === undefined
                ? t(texts.unknown)
                : secondslate < usualSeconds
                  ? t(texts.onTime)
                  : `${seconds(secondslate)} ${t(texts.secondsLate)}`}
            </dd>
            <dt>{t(texts.changes)}</dt>
            <dd>{t(writable ? texts.possible : texts.readOnly)}</dd>
            <dt>{t(texts.version)}</dt>
            <dd>{version}</dd>
          </dl>
        )}
      </Loaded>
    </section>
  );
}
