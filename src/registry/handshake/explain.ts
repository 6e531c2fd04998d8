import type { components } from '../../base/contract/contract.gen.js';
import { rejectedCallbackTexts } from '../../base/texts/handshakes.js';
import type { Language } from '../../base/texts/text.js';
import { presentFront } from '../../consent/fronts.js';
import { readShownCertificate } from '../../consent/judgement.js';
import { certificateFaultOf } from '../../outbound/certificate-fault.js';
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

/** No platform adds these to a response that it writes before the application. */
const ofApplications = ['content-type', 'allow', 'x-powered-by'];

/** What the response contained, or why there was none, for sentences that show it. */
export function observed(
  { origin, sink, requestedRate }: HandshakePair,
  answer: readonly HeaderLine[] | undefined,
  evidence?: string,
): Facts {
  const valuesOf = (name: string) =>
    answer?.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value) ?? [];
  const header = (name: string) => {
    const values = valuesOf(name);
    return values.length === 0 ? undefined : values.join(', ');
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
    certificate: readShownCertificate(evidence),
    certificateFault: certificateFaultOf(evidence),
    front: presentFront(valuesOf),
    isBare: answer !== undefined && ofApplications.every((name) => valuesOf(name).length === 0),
    isForbidden: answer !== undefined && valuesOf('www-authenticate').length === 0,
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
