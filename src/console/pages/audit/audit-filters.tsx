import { useState } from 'preact/hooks';
import type { Problem } from '../../app/api.js';
import type { operations } from '../../../base/contract/contract.gen.js';
import { fromLocalTime, t, toLocalTime } from '../../app/text.js';
import { go, href } from '../../app/route.js';
import { readsEveryTenant } from '../../app/session.js';
import { auditTexts as texts } from '../../texts/audit.js';
import { TextField } from '../../ui/form.js';

export type AuditQuery = NonNullable<operations['listAuditRecords']['parameters']['query']>;

export const filterNames = ['since', 'until', 'action', 'actor', 'person', 'target', 'subscriber', 'tenant'] as const;
type Name = (typeof filterNames)[number];

const times: readonly Name[] = ['since', 'until'];
const hints = { action: texts.actionHint, person: texts.personHint, target: texts.targetHint };

/** Found with one press. What was typed stays until then. */
export function AuditFilters({ filter, problem }: { filter: AuditQuery; problem: Problem | undefined }) {
  const [typed, setTyped] = useState<Record<string, string | undefined>>(() => ({
    ...(filter as Record<string, string>),
    since: toLocalTime(filter.since),
    until: toLocalTime(filter.until),
  }));
  const names = filterNames.filter((name) => name !== 'tenant' || readsEveryTenant.value);
  const submit = (event: Event) => {
    event.preventDefault();
    const given = names.map((name) => {
      const value = typed[name]?.trim() ?? '';
      return [name, times.includes(name) ? fromLocalTime(value) : value];
    });
    go(href('audit', undefined, Object.fromEntries(given) as Record<string, string | undefined>));
  };
  return (
    <form class="filters" onSubmit={submit}>
      {names.map((name) => (
        <TextField
          key={name}
          label={t(texts[name])}
          hint={name in hints ? t(hints[name as keyof typeof hints]) : undefined}
          problem={problem}
          pointer={`query/${name}`}
          {...(times.includes(name) ? { type: 'datetime-local', step: 1 } : { spellcheck: false })}
          value={typed[name] ?? ''}
          onInput={(value) => setTyped({ ...typed, [name]: value })}
        />
      ))}
      <button type="submit" class="first">
        {t(texts.find)}
      </button>
      <a class="button" href={href('audit')}>
        {t(texts.clear)}
      </a>
    </form>
  );
}
