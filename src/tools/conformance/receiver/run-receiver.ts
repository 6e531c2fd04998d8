import { setMaxListeners } from 'node:events';
import type { Case, CaseResult, ConsentSeen, Finding } from '../case.js';
import type { ReceiverCaseId } from '../cases.js';
import { callbackCases } from './callback-cases.js';
import { consentCases } from './consent-cases.js';
import { deliveryCases } from './delivery-cases.js';
import { eventCases } from './event-cases.js';
import { requestCases } from './request-cases.js';
import { signatureCases } from './signature-cases.js';
import { Session, type SessionSettings } from './session.js';

export interface ReceiverRun extends Omit<SessionSettings, 'signal'> {
  cases: readonly Case[];
  /** Of the whole run. What is not done by then is not evaluable. Infinity for none. */
  deadlineMs: number;
}

const runs: Record<ReceiverCaseId, (session: Session) => Promise<Finding>> = {
  ...consentCases,
  ...requestCases,
  ...callbackCases,
  ...deliveryCases,
  ...eventCases,
  ...signatureCases,
};

const burst: ReceiverCaseId = 'R24';

export interface ReceiverOutcome {
  results: CaseResult[];
  consent: ConsentSeen;
}

/** Runs the cases one after the other. Throws only for faults of the kit. */
export async function runReceiver(run: ReceiverRun): Promise<ReceiverOutcome> {
  const over = new AbortController();
  // Requests that are sent at once all listen to it.
  setMaxListeners(0, over.signal);
  const timer = Number.isFinite(run.deadlineMs) ? setTimeout(() => over.abort(), run.deadlineMs) : undefined;
  const session = new Session({ ...run, signal: over.signal });
  try {
    const results = new Map<Case, CaseResult>();
    // After a burst, a receiver refuses what it would accept.
    for (const each of [...run.cases].sort((a, b) => Number(a.id === burst) - Number(b.id === burst))) {
      const startedAt = performance.now();
      const finding = over.signal.aborted ? undefined : await runs[each.id as ReceiverCaseId](session);
      // Without the time to wait, silence means nothing.
      const isLate = over.signal.aborted && finding?.outcome !== 'not_evaluable';
      const late = {
        ...session.notEvaluable(`The run had taken ${run.deadlineMs / 1_000} s.`),
        ...evidenceOf(finding),
      };
      const judged = isLate || finding === undefined ? late : finding;
      results.set(each, { ...each, ...judged, duration: Math.round(performance.now() - startedAt) });
    }
    return { results: run.cases.map((each) => results.get(each) as CaseResult), consent: session.seenConsent() };
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}

const evidenceOf = (finding: Finding | undefined) => ({ evidence: finding?.evidence ?? [] });
