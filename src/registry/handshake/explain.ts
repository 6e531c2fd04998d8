import type { components } from '../../base/contract/contract.gen.js';
import { rejectedCallbackTexts } from '../../base/texts/handshakes.js';
import type { Language } from '../../base/texts/text.js';
import type { Handshake, HeaderLine, RejectedCallback } from '../../consent/handshake.js';
import { advise, describe, quoted, verdicts, type Facts, type FixedBy, type Verdict } from '../../consent/verdicts.js';

/** What a verdict says, in short and of what was observed, who can fix it, and advice if there is any. */
export function explain(
  verdict: Verdict,
  facts: Facts,
  language: Language,
): { label: string; message: string; advice: string | undefined; fixedby: FixedBy } {
  const advice = advise(verdict, facts, language);
  const message = describe(verdict, facts, language);
  const { label, fixedBy } = verdicts[verdict];
  return { label: label[language], message, advice, fixedby: fixedBy };
}

export type HandshakePair = Pick<Handshake, 'origin' | 'sink'> & Partial<Pick<Handshake, 'requestedRate'>>;

/** What the response contained, for sentences that show it. */
export function observed(
  { origin, sink, requestedRate }: HandshakePair,
  answer: readonly HeaderLine[] | undefined,
): Facts {
  const header = (name: string) => {
    const lines = answer?.filter(([each]) => each.toLowerCase() === name) ?? [];
    return lines.length === 0 ? undefined : lines.map(([, value]) => value).join(', ');
  };
  const allowedOrigin = header('webhook-allowed-origin');
  const allowedRate = header('webhook-allowed-rate');
  const requestedOriginEchoed = header('webhook-request-origin');
  const redirectedTo = withinHost(sink, header('location'));
  const software = answer && { server: header('server'), poweredBy: header('x-powered-by') };
  return {
    origin,
    requestedRate,
    allowedOrigin,
    allowedRate,
    requestedOriginEchoed,
    redirectedTo,
    software,
  };
}

/** The full URL that a redirect points to, if it stays on the host of the sink. */
function withinHost(sink: string, location: string | undefined): string | undefined {
  if (location === undefined || !URL.canParse(location, sink)) return undefined;
  const target = new URL(location, sink);
  return target.hostname === new URL(sink).hostname ? target.href : undefined;
}

/** What arrived, why it did not count, and what to send instead. */
export function presentRejected(
  origin: string,
  { at, code, allowedorigin = '', allowedrate = '', count }: RejectedCallback,
  language: Language,
): components['schemas']['RejectedCallback'] {
  const { message, advice } = rejectedCallbackTexts[code]({
    origin: quoted(origin),
    allowedOrigin: quoted(allowedorigin),
    allowedRate: quoted(allowedrate),
  });
  return { at, code, message: message[language], advice: advice[language], count };
}
