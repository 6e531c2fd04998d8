import { useEffect, useRef } from 'preact/hooks';
import { api } from '../../app/api.js';
import type { AuditQuery } from '../../app/export.js';
import { useResource } from '../../app/resource.js';
import { href, route } from '../../app/route.js';
import { t } from '../../app/text.js';
import { auditTexts as texts } from '../../texts/audit.js';
import { commonTexts } from '../../texts/common.js';
import { Loaded } from '../../ui/problem.js';
import { AuditEntry } from './audit-entry.js';
import { AuditExport } from './audit-export.js';
import { AuditFilters, filterNames } from './audit-filters.js';

const perPage = 50;

/** The filters and the place in the list are in the address, so that a link shows the same. */
export function Audit() {
  const { query } = route.value;
  const filter = Object.fromEntries(
    filterNames.filter((name) => query[name]).map((name) => [name, query[name]]),
  ) as AuditQuery;
  const { cursor } = query;
  const key = JSON.stringify([filter, cursor]);
  const list = useResource(
    key,
    async (signal) => {
      const parameters = { ...filter, limit: perPage, ...(cursor && { cursor }) };
      const { data, next } = await api.GET('/audit', { params: { query: parameters }, signal });
      return { entries: data, next };
    },
    // The newest page only: an older one does not change, and must not while it is read.
    () => cursor === undefined && scrollY === 0,
  );
  const heading = useRef<HTMLHeadingElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) {
      heading.current?.focus();
      heading.current?.scrollIntoView();
    }
    isFirst.current = false;
  }, [key]);
  return (
    <>
      <h1>{t(texts.title)}</h1>
      <p>{t(texts.lead)}</p>
      <AuditFilters key={JSON.stringify(filter)} filter={filter} problem={list.problem} />
      <AuditExport query={filter} />
      <h2 ref={heading} tabIndex={-1}>
        {t(texts.entries)}
      </h2>
      <Loaded of={list}>
        {({ entries, next }) => (
          <>
            {entries.length === 0 && <p>{t(commonTexts.nothing)}</p>}
            <ol class="entries">
              {entries.map((entry) => (
                <AuditEntry key={entry.id} entry={entry} />
              ))}
            </ol>
            <div class="actions">
              {cursor !== undefined && (
                <a class="button" href={href('audit', undefined, filter as Record<string, string>)}>
                  {t(texts.newest)}
                </a>
              )}
              {next !== undefined && (
                <a
                  class="button"
                  rel="next"
                  href={href('audit', undefined, { ...(filter as Record<string, string>), cursor: next })}
                >
                  {t(texts.older)}
                </a>
              )}
            </div>
          </>
        )}
      </Loaded>
    </>
  );
}
