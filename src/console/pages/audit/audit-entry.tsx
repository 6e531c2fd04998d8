import type { Schemas } from '../../app/api.js';
import { readableJson } from '../../app/json.js';
import { href } from '../../app/route.js';
import { isAdmin, readsEveryTenant } from '../../app/session.js';
import { formatNumber, t } from '../../app/text.js';
import { auditTexts as texts } from '../../texts/audit.js';
import { Time } from '../../ui/time.js';

type Entry = Schemas['AuditEntry'];

const pages: Record<string, string | undefined> = {
  subscription: 'subscriptions',
  origin: 'origins',
  block: 'blocks',
  grant: 'grants',
};
/** From here on a change is folded, and a value. */
const longChange = 600;
const longValue = 2_000;

/** One change: what, when, who, and each changed member before and after. */
export function AuditEntry({ entry }: { entry: Entry }) {
  const { at, tenant, actor, action, target, subscriber, reference, changed, requestid } = entry;
  const { reason, ...detail } = entry.detail ?? {};
  const isLong = JSON.stringify(changed ?? {}).length > longChange;
  return (
    <li class="card entry">
      <p>
        <Time at={at} isExact /> · <code>{action}</code> {t(texts.by)}{' '}
        <a href={href('audit', undefined, { actor })}>
          <bdi>{actor}</bdi>
        </a>
        {readsEveryTenant.value && (
          <>
            {' · '}
            <bdi>{tenant}</bdi>
          </>
        )}
      </p>
      <p>
        <Target target={target} /> ·{' '}
        <a href={href('audit', undefined, { target })} aria-label={`${t(texts.onlyThis)}: ${target}`}>
          {t(texts.onlyThis)}
        </a>
      </p>
      <dl class="facts">
        {facts({ subscriber, reason, reference, requestid }).map(({ key, value }) => (
          <>
            <dt key={key}>{t(texts[key])}</dt>
            <dd>
              <Value value={value} />
            </dd>
          </>
        ))}
      </dl>
      {changed !== undefined && (
        <details open={!isLong}>
          <summary>
            {t(texts.changed)}: {Object.keys(changed).join(', ')}
          </summary>
          <div class="scroll" tabIndex={0} role="region" aria-label={`${t(texts.changed)}: ${target}, ${at}`}>
            <table class="changes">
              <thead>
                <tr>
                  <th scope="col">{t(texts.member)}</th>
                  <th scope="col">{t(texts.before)}</th>
                  <th scope="col">{t(texts.after)}</th>
                </tr>
              </thead>
              <tbody>
                {Object.entries(changed).map(([member, { before, after }]) => (
                  <tr key={member}>
                    <th scope="row">
                      <bdi>{member}</bdi>
                    </th>
                    <td>
                      <Value value={before} />
                    </td>
                    <td>
                      <Value value={after} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      )}
      {Object.keys(detail).length > 0 && (
        <details>
          <summary>{t(texts.detail)}</summary>
          <Value value={detail} />
        </details>
      )}
    </li>
  );
}

function facts(given: Record<'subscriber' | 'reason' | 'reference' | 'requestid', unknown>) {
  const keys = ['subscriber', 'reason', 'reference', 'requestid'] as const;
  return keys.filter((key) => given[key] !== undefined).map((key) => ({ key, value: given[key] }));
}

/** Operators who only read the audit record see no other page. */
function Target({ target }: { target: string }) {
  const place = target.indexOf(':');
  const page = pages[target.slice(0, place)];
  const text = <bdi>{target}</bdi>;
  return page !== undefined && isAdmin.value ? <a href={href(page, target.slice(place + 1))}>{text}</a> : text;
}

/** A text as it is, everything else as JSON over several lines. */
function Value({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <span class="soft">–</span>;
  const text = typeof value === 'string' ? value : readableJson(value);
  if (text.length <= longValue) {
    return typeof value === 'object' ? <pre class="value">{text}</pre> : <bdi>{text}</bdi>;
  }
  return (
    <details>
      <summary>
        <bdi>{text.slice(0, 100)}…</bdi> {t(texts.long).replace('{n}', formatNumber(text.length))}
      </summary>
      <pre class="value" tabIndex={0}>
        {text}
      </pre>
    </details>
  );
}
