import type { ComponentChildren } from 'preact';
import type { Problem } from '../app/api.js';
import { t } from '../app/text.js';
import { commonTexts } from '../texts/common.js';

/**
 * What failed, whether it was done, and what to do. Faults that a form shows at its fields (`shownAt`) are left out here.
 */
export function ProblemView({
  problem,
  onRetry,
  shownAt = [],
}: {
  problem: Problem | undefined;
  onRetry?: () => void;
  shownAt?: readonly string[];
}) {
  if (problem === undefined) return null;
  const { problems } = commonTexts;
  const isLost = problem.code === 'connection_lost';
  const others = (problem.faults ?? []).filter(({ pointer }) => !shownAt.includes(pointer));
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{isLost ? t(problems.lost) : problem.title}</strong>
      </p>
      {isLost ? <p>{t(problems.lostNext)}</p> : <p>{problem.detail}</p>}
      {problem.code === 'precondition_failed' && <p>{t(problems.changedMeanwhile)}</p>}
      {others.length > 0 && (
        <ul>
          {others.map(({ pointer, detail }) => (
            <li key={pointer}>
              <code>{pointer}</code> {detail}
            </li>
          ))}
        </ul>
      )}
      {problem.requestid !== '' && (
        <p class="soft">
          {problem.code} · {t(problems.request)} <code>{problem.requestid}</code>
        </p>
      )}
      {onRetry && (
        <button type="button" onClick={onRetry}>
          {t(problems.retry)}
        </button>
      )}
    </div>
  );
}

/** The states of a read: nothing yet, failed, or there. */
export function Loaded<T>({
  of: { data, problem, isLoading, reload },
  children,
}: {
  of: { data: T | undefined; problem: Problem | undefined; isLoading: boolean; reload(): void };
  children: (data: T) => ComponentChildren;
}) {
  return (
    <>
      <ProblemView problem={problem} onRetry={reload} />
      {data === undefined && isLoading && (
        <p class="soft" role="status">
          {t(commonTexts.loading)}
        </p>
      )}
      {data !== undefined && children(data)}
    </>
  );
}
