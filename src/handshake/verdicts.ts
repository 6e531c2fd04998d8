import { maxRate } from '../origins/rate.js';
import { judgeOrigin, type Judgement, type Warning } from './judgement.js';

/** What the registry itself has to say about a handshake or a grant, beside what an answer meant. */
export type RegistryVerdict =
  | 'callback_granted'
  | 'callback_expired'
  | 'refused_by_owner'
  | 'granted_by_policy'
  | 'revoked'
  | 'interrupted'
  | 'held_by_budget'
  | 'name_not_public';

export type Verdict = Judgement['verdict'] | RegistryVerdict;

interface Sentences {
  /** What happened. */
  title: string;
  /** What the owner of the target can change; empty where there is nothing to change. */
  advice: string;
}

const answerHeaders = 'answer OPTIONS with WebHook-Allowed-Origin and WebHook-Allowed-Rate';

/** The published table: one row for every verdict, stable codes, sentences for people. */
export const verdicts: Record<Verdict, Sentences> = {
  granted: { title: 'The webhook allows this origin to send.', advice: '' },
  granted_any_origin: {
    title: 'The webhook allows every origin to send.',
    advice: 'Consider naming the origins that may send: an asterisk gives consent to everybody.',
  },

  no_consent_headers: {
    title: 'The webhook answered without any WebHook header, which is no consent.',
    advice: `If this origin may send, ${answerHeaders}.`,
  },
  cors_answer: {
    title: 'The webhook answered with CORS headers but no WebHook header: a CORS layer answers before the application.',
    advice: `Let OPTIONS requests with WebHook-Request-Origin pass the CORS layer, and ${answerHeaders}.`,
  },
  allow_only: {
    title: 'The webhook answered with Allow and no WebHook header, as a framework does when nothing handles OPTIONS.',
    advice: `Add a handler for OPTIONS at this address and ${answerHeaders}.`,
  },
  unsupported: {
    title: 'The webhook does not support OPTIONS.',
    advice: `Add a handler for OPTIONS at this address and ${answerHeaders}.`,
  },
  authentication_required: {
    title: 'The webhook asked for authentication or forbade the request; a validation request carries no credentials.',
    advice: `Let OPTIONS at this address pass without authentication, also past rules that allow only POST, and ${answerHeaders}.`,
  },
  not_found_at_target: {
    title: 'The host of the webhook found nothing that answers OPTIONS at this address.',
    advice: `Check the sink, and whether the route takes OPTIONS and not only POST; then ${answerHeaders}.`,
  },
  server_error: {
    title: 'The webhook, or a proxy in front of it, failed to answer OPTIONS and is asked again later.',
    advice: 'Look for the error in the logs of the webhook and of what stands in front of it.',
  },
  request_origin_echoed: {
    title: 'The webhook sent WebHook-Request-Origin back instead of WebHook-Allowed-Origin.',
    advice: 'Name the header of the answer WebHook-Allowed-Origin; WebHook-Request-Origin belongs to the request.',
  },
  origin_missing: {
    title: 'The webhook answered WebHook-Allowed-Rate without WebHook-Allowed-Origin.',
    advice: 'Send WebHook-Allowed-Origin with the name of this origin or "*" beside the rate.',
  },

  redirected: {
    title: 'The webhook answered with a redirect, which is never followed and never consent.',
    advice: 'Register the address that the redirect leads to, or answer OPTIONS at this address itself.',
  },
  origin_mismatch: {
    title: 'The webhook allows another origin than the one that asked.',
    advice: 'Allow exactly the value of WebHook-Request-Origin, or "*"; patterns, prefixes and lists do not count.',
  },
  origin_repeated: {
    title: 'The webhook sent more than one value of WebHook-Allowed-Origin.',
    advice: 'Send WebHook-Allowed-Origin once, with only the origin that asked or "*".',
  },
  rate_missing: {
    title: 'The webhook allows the origin but sent no WebHook-Allowed-Rate, although a rate was asked for.',
    advice: 'Send WebHook-Allowed-Rate with requests per minute as a positive integer, or "*".',
  },
  rate_malformed: {
    title: 'The webhook sent a WebHook-Allowed-Rate that is neither a positive integer nor "*".',
    advice: 'Write requests per minute in digits alone: no sign, leading zero, fraction, exponent or unit.',
  },
  rate_repeated: {
    title: 'The webhook sent more than one value of WebHook-Allowed-Rate.',
    advice: 'Send WebHook-Allowed-Rate once, with one value.',
  },

  gone: { title: 'The webhook is retired: it answered 410 Gone.', advice: 'Register the sink that replaces this one.' },
  throttled: {
    title: 'The webhook has too many requests at present and is asked again later.',
    advice: 'Exempt OPTIONS from the limit, or say with Retry-After when to ask again.',
  },
  unavailable: {
    title: 'The webhook is unavailable at present and is asked again later.',
    advice: 'Bring the webhook back into service, or say with Retry-After when to ask again.',
  },

  name_not_found: {
    title: 'The host name of the sink does not exist.',
    advice: 'Check the spelling of the sink and publish its name in public DNS.',
  },
  name_lookup_failed: {
    title: 'The host name of the sink could not be looked up.',
    advice: 'Check that the name servers of the domain answer.',
  },
  connection_refused: {
    title: 'The host of the webhook refused the connection.',
    advice: 'Check that the webhook is running and listens on the port of the sink.',
  },
  connection_failed: {
    title: 'No connection to the host of the webhook could be made.',
    advice: 'Check that the host can be reached from outside and that no firewall drops the connection.',
  },
  connection_closed: {
    title: 'The connection was closed before the webhook had answered.',
    advice: 'Check that no proxy or firewall drops OPTIONS requests, and that the application does not crash.',
  },
  tls_failed: {
    title: 'No TLS connection to the webhook could be agreed on.',
    advice: 'Serve HTTPS with TLS 1.2 or later on the port of the sink.',
  },
  certificate_invalid: {
    title: 'The certificate of the webhook does not hold for its host name.',
    advice:
      'Install a certificate that is current, names this host as a subject alternative name, and comes with its whole chain.',
  },
  deadline_exceeded: {
    title: 'The webhook did not answer in time.',
    advice: 'Answer OPTIONS at once.',
  },
  not_http: {
    title: 'What the webhook sent is not a final HTTP/1.1 answer.',
    advice: 'Check that an HTTPS server that speaks HTTP/1.1 listens on the port of the sink.',
  },
  headers_too_large: {
    title: 'The headers of the answer are too large.',
    advice: 'Leave cookies and other unneeded headers out of the answer to OPTIONS.',
  },
  too_many_informational: {
    title: 'The webhook sent too many informational (1xx) answers instead of a final one.',
    advice: 'Answer OPTIONS with a final status at once.',
  },
  aborted: { title: 'The registry ended the request before there was an answer.', advice: '' },
  name_not_public: {
    title: 'The host name of the sink leads to no address on the public Internet, so nothing was sent.',
    advice: 'Check the spelling of the sink, and publish its name in public DNS with public addresses only.',
  },
  address_not_allowed: {
    title: 'The host name of the sink leads to an address that may not be called, so nothing was sent.',
    advice: 'Make every address that is published for the host a public one.',
  },
  sink_not_allowed: {
    title: 'The sink is not one that may be called, so nothing was sent.',
    advice: 'Register an https address with a public host name and a usual port.',
  },

  callback_granted: { title: 'The permission was given by calling the callback URL.', advice: '' },
  refused_by_owner: {
    title: 'The owner of the webhook refused on the page of the callback URL.',
    advice: 'Agree with the owner of the webhook first, then ask for another handshake.',
  },
  callback_expired: {
    title: 'The answer gave no consent, and the callback URL was not called before it expired.',
    advice: `Ask for another handshake, and call its callback URL in time or ${answerHeaders}.`,
  },
  granted_by_policy: {
    title: 'The webhook does not support the handshake; the policy of the origin lets it have events at a low rate.',
    advice: `For a higher rate, ${answerHeaders}.`,
  },
  revoked: { title: 'An administrator took the permission back.', advice: '' },
  interrupted: { title: 'The service stopped before the outcome of this attempt was recorded.', advice: '' },
  held_by_budget: {
    title: 'The request waits its turn: this host, its network or the tenant has been asked often enough for now.',
    advice: '',
  },
};

/** One sentence for every warning that is kept with a grant. */
export const warnings: Record<Warning, string> = {
  origin_in_list: 'WebHook-Allowed-Origin held several values; it should hold only the origin that asked or "*".',
  origin_trailing_dot: 'WebHook-Allowed-Origin ended in a dot; it should be exactly the origin that asked.',
  rate_missing: 'WebHook-Allowed-Rate was missing, so the requested rate holds.',
  rate_malformed: 'WebHook-Allowed-Rate was not a positive integer or "*", so the rate that was to be expected holds.',
  rate_repeated: 'WebHook-Allowed-Rate held several values, so the rate that was to be expected holds.',
  rate_above_requested: 'WebHook-Allowed-Rate is higher than the requested rate; it is accepted.',
  rate_capped: `WebHook-Allowed-Rate is higher than ${maxRate}, the highest rate that is kept, which holds instead.`,
  rate_defaulted: 'No rate was asked for and none was given, so the default rate of the origin holds.',
  allow_without_post: 'The Allow header does not name POST, the method that events are delivered with.',
};

/**
 * What was observed; leave `status` out for readers who may not see it. Header values are as the target wrote them,
 * several of one name divided by commas.
 */
export interface Facts {
  status?: number;
  allowedOrigin?: string;
  allowedRate?: string;
  origin: string;
  requestedOriginEchoed?: string;
  callbackOffered?: boolean;
  /** Only on the host of the sink. Another host is not disclosed. */
  redirectedTo?: string;
}

/**
 * As others than admins see it. Whether a name is absent or leads inside is not for them: the registry would answer for
 * the DNS of its own network.
 */
export function publicVerdict(verdict: Verdict): Verdict {
  return verdict === 'name_not_found' || verdict === 'address_not_allowed' ? 'name_not_public' : verdict;
}

const lenient = 'If the webhook cannot be changed, an admin can set "judgement" of the origin to "lenient"';
const lenientRate = `${lenient}: then the requested rate holds.`;
const hints: Partial<Record<Verdict, string>> = {
  rate_missing: lenientRate,
  rate_malformed: lenientRate,
  rate_repeated: lenientRate,
  not_found_at_target:
    '@azure/web-pubsub-express answers OPTIONS only if the request has a ce-awpsversion header, which no sender but ' +
    'Azure sends: set it to "1.0" in front of that middleware, or answer OPTIONS in a route of your own.',
};

/** In place of the advice where a callback was offered. */
const withCallback: Partial<Record<Verdict, string>> = {
  no_consent_headers: `If this origin may send, ${answerHeaders}, or call the callback URL.`,
  deadline_exceeded: 'Answer OPTIONS at once, and give permission by the callback if the decision takes longer.',
};

/** What the owner of the webhook can change, and what else would help; empty where there is nothing. */
export function advise(verdict: Verdict, { origin, allowedOrigin, callbackOffered }: Facts): string {
  const advice = (callbackOffered ? withCallback[verdict] : undefined) ?? verdicts[verdict].advice;
  const isOrigin = verdict === 'origin_repeated' || verdict === 'origin_mismatch';
  const wouldPass =
    isOrigin && typeof judgeOrigin({ origin, judgement: 'lenient' }, [allowedOrigin ?? '']) === 'object';
  const hint = wouldPass ? `${lenient}.` : hints[verdict];
  return hint === undefined ? advice : `${advice} ${hint}`;
}

/** The title of a verdict with the observed values behind it, fit to be shown and logged. */
export function describe(verdict: Verdict, facts: Facts): string {
  const { status, allowedOrigin, allowedRate, origin, requestedOriginEchoed, redirectedTo } = facts;
  const isAboutRate = verdict.startsWith('rate_') || verdict === 'origin_missing';
  const seen = [
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(allowedOrigin === undefined ? [] : [`WebHook-Allowed-Origin ${quoted(allowedOrigin)}`]),
    ...(isAboutRate && allowedRate !== undefined ? [`WebHook-Allowed-Rate ${quoted(allowedRate)}`] : []),
    ...(requestedOriginEchoed === undefined ? [] : [`WebHook-Request-Origin ${quoted(requestedOriginEchoed)}`]),
    ...(verdict === 'redirected' && redirectedTo !== undefined ? [`Location ${quoted(redirectedTo)}`] : []),
  ];
  const { title } = verdicts[verdict];
  return seen.length === 0 ? title : `${title} Asked by ${quoted(origin)}, it answered with ${seen.join(', ')}.`;
}

const maxLength = 200;

/** Control, format (bidirectional) and unpaired characters are written as escapes, so that they cannot fake a line. */
export function quoted(value: string): string {
  const escaped = value
    .slice(0, maxLength)
    .replace(/[\p{C}\p{Zl}\p{Zp}"\\]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
  const shown = [...escaped].slice(0, maxLength).join('');
  return `"${shown.length < escaped.length || value.length > maxLength ? `${shown}…` : shown}"`;
}
