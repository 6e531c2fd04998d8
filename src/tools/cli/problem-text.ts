import type { AssentError } from '../../kits/client/index.js';
import { visible } from './printable.js';

/** 1 refused or failed, 3 the registry does not respond, 4 not found. */
export function exitCodeOf({ code, status }: AssentError): number {
  if (code === 'connection_lost' || status === 502 || status === 503 || status === 504) return 3;
  return status === 404 ? 4 : 1;
}

/** For people, or as a line of JSON. */
export function problemText(error: AssentError, asJson: boolean): string {
  if (asJson) return `${JSON.stringify(error.problem)}\n`;
  const { title, detail } = error.problem;
  const cause = error.code === 'connection_lost' ? causeOf(error.cause) : '';
  const lines = [
    ...[title, detail, cause].filter(Boolean),
    ...error.faults.map(({ pointer, rule, detail }) => `  ${pointer || '/'}  ${rule}: ${detail}`),
    ...(error.status === 401 ? ['Set ASSENT_TOKEN, or sign in with "assent login".'] : []),
    ...(error.requestid === '' ? [] : [`Code ${error.code}, request ${error.requestid}`]),
  ];
  return lines.map((line) => `${visible(line)}\n`).join('');
}

interface Cause {
  message?: string;
  cause?: Cause;
  errors?: Cause[];
}

/** What Node hides behind "fetch failed". */
function causeOf(error: unknown): string {
  const { cause, message = '' } = (error ?? {}) as Cause;
  return cause?.errors?.[0]?.message || cause?.message || message;
}
