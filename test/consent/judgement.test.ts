import { describe, expect, test } from '@jest/globals';
import { judge, type Criteria } from '../../src/consent/judgement.js';
import { cpuTime } from '../support/cpu-time.js';

type Headers = ReadonlyArray<readonly [string, string]>;

const origin = 'eventemitter.example.com';
const strict: Criteria = { origin, requestedRate: 120, defaultRate: 60, judgement: 'strict' };
const lenient: Criteria = { ...strict, judgement: 'lenient' };
const unasked: Criteria = { ...strict, requestedRate: undefined };

const allowedOrigin = (value: string) => ['WebHook-Allowed-Origin', value] as const;
const allowedRate = (value: string) => ['WebHook-Allowed-Rate', value] as const;
const consent: Headers = [allowedOrigin(origin), allowedRate('120')];

const timing = { totalMs: 12 };
function answer(criteria: Criteria, headers: Headers, status = 200) {
  return judge(criteria, { kind: 'answered', status, headers, remoteAddress: '192.0.2.1', timing });
}
const granted = (changes: object = {}) => ({
  kind: 'granted',
  verdict: 'granted',
  allowedOrigin: origin,
  allowedRate: 120,
  tolerated: [],
  ...changes,
});
const withheld = (verdict: string) => ({ kind: 'withheld', verdict });
const refused = (verdict: string) => ({ kind: 'refused', verdict });

describe('the status', () => {
  test.each([200, 201, 204, 299, 400, 401, 403, 404, 405, 415, 500, 501, 502, 504, 599])(
    '%i with the consent headers is consent, because only the headers count',
    (status) => {
      expect(answer(strict, consent, status)).toEqual(granted());
    },
  );

  test.each([200, 201, 202, 204, 206])('%i without WebHook-Allowed-Origin grants nothing', (status) => {
    for (const criteria of [strict, lenient, unasked]) {
      expect(answer(criteria, [], status)).toEqual(withheld('no_consent_headers'));
    }
  });

  test.each([300, 301, 302, 303, 304, 307, 308, 399])(
    '%i is refused, even with the consent headers and even by lenient judgement',
    (status) => {
      expect(answer(lenient, [...consent, ['Location', '/here']], status)).toEqual(refused('redirected'));
    },
  );

  test('410 retires the target, even with the consent headers', () => {
    expect(answer(lenient, consent, 410)).toEqual({ kind: 'retired', verdict: 'gone' });
  });

  test.each([
    [429, 'throttled'],
    [503, 'unavailable'],
  ])('%i postpones, even with the consent headers', (status, verdict) => {
    expect(answer(lenient, consent, status)).toEqual({ kind: 'postponed', verdict, retryAfterMs: undefined });
  });

  test.each([500, 502, 504, 522])(
    '%i without a WebHook header postpones, because it may come from a proxy',
    (status) => {
      const cors = ['Access-Control-Allow-Origin', '*'] as const;
      for (const headers of [[], [cors]]) {
        const verdict = { kind: 'postponed', verdict: 'server_error', retryAfterMs: undefined };
        expect(answer(lenient, headers, status)).toEqual(verdict);
      }
      expect(answer(strict, [['WebHook-Request-Origin', origin]], status)).toEqual(withheld('request_origin_echoed'));
    },
  );

  test('a postponing response can say for how long, in seconds or with a date by its own clock', () => {
    const postponed = { kind: 'postponed', verdict: 'throttled', retryAfterMs: 60_000 };
    expect(answer(strict, [['retry-after', ' 60 ']], 429)).toEqual(postponed);
    const byDate: Headers = [
      ['Date', 'Sun, 06 Nov 1994 08:49:37 GMT'],
      ['Retry-After', 'Sun, 06 Nov 1994 08:50:37 GMT'],
    ];
    expect(answer(strict, byDate, 429)).toEqual(postponed);
  });

  test.each([100, 103, 199, 600, 999])('%i is not a final response, whatever its headers say', (status) => {
    expect(answer(lenient, consent, status)).toEqual({ kind: 'unreachable', verdict: 'not_http' });
  });
});

describe('no WebHook-Allowed-Origin', () => {
  const cors: Headers = [
    ['Access-Control-Allow-Origin', '*'],
    ['Access-Control-Allow-Methods', 'POST'],
    ['Allow', 'POST'],
  ];

  test.each<[string, number, Headers]>([
    ['no_consent_headers', 200, [['Content-Length', '0']]],
    ['no_consent_headers', 400, [['Allow', 'POST']]],
    ['no_consent_headers', 415, []],
    ['cors_answer', 200, cors],
    ['cors_answer', 204, cors],
    ['cors_answer', 400, [['access-control-allow-headers', 'WebHook-Request-Origin']]],
    ['allow_only', 200, [['Allow', 'POST']]],
    ['allow_only', 204, [['allow', 'GET, HEAD, OPTIONS']]],
    ['unsupported', 405, [['Allow', 'POST']]],
    ['unsupported', 405, cors],
    ['unsupported', 501, []],
    ['authentication_required', 401, [['WWW-Authenticate', 'Bearer']]],
    ['authentication_required', 403, cors],
    ['not_found_at_target', 404, cors],
    ['request_origin_echoed', 200, [['WebHook-Request-Origin', origin]]],
    ['request_origin_echoed', 200, [['webhook-request-origin', origin], allowedRate('120'), ...cors]],
    ['request_origin_echoed', 405, [['WebHook-Request-Origin', origin]]],
    ['origin_missing', 200, [allowedRate('120')]],
    ['origin_missing', 405, [allowedRate('*'), ...cors]],
  ])('is no consent and classified as %s (%i %j)', (verdict, status, headers) => {
    for (const criteria of [strict, lenient, unasked]) {
      expect(answer(criteria, headers, status)).toEqual(withheld(verdict));
    }
  });
});

describe('what is in front of the application', () => {
  const postponed = (evidence: string) => ({
    kind: 'postponed',
    verdict: 'bot_protection',
    retryAfterMs: undefined,
    evidence,
  });
  test.each<[number, string, string]>([
    [403, 'cf-mitigated', 'challenge'],
    [429, 'Cf-Mitigated', 'challenge'],
    [503, 'cf-mitigated', 'challenge'],
    [403, 'X-Vercel-Mitigated', 'challenge'],
    [403, 'x-vercel-mitigated', 'deny'],
    [202, 'x-amzn-waf-action', 'challenge'],
    [405, 'X-Amzn-Waf-Action', 'captcha'],
    [403, 'x-dd-b', '1'],
    [302, 'x-dd-b', '2'],
    [410, 'cf-mitigated', 'challenge'],
  ])('is no decision of it: %i with %s: %s', (status, name, value) => {
    for (const criteria of [strict, lenient]) {
      expect(answer(criteria, [[name, value]], status)).toEqual(postponed(`${name.toLowerCase()}: ${value}`));
    }
    expect(answer(strict, [[name, value], ...consent], 200)).toEqual(granted());
  });

  test.each<[string, string, string]>([
    ['cf-mitigated', 'none', 'authentication_required'],
    ['x-datadome', 'protected', 'authentication_required'],
    ['cf-ray', '8f', 'authentication_required'],
    ['x-dd-b', 'WebHook\n', 'authentication_required'],
  ])('is not told by %s: %s, which is on other responses, too', (name, value, verdict) => {
    expect(answer(strict, [[name, value]], 403)).toEqual(withheld(verdict));
  });

  test('may want a client certificate or HTTP/2, which only some statuses and texts say', () => {
    const at = (status: number, opening: string, headers: Headers = []) =>
      judge(strict, { kind: 'answered', status, headers, opening, remoteAddress: '192.0.2.1', timing });
    const nginx = '<html>\r\n<head><title>400 No required SSL certificate was sent</title></head>';
    expect(at(400, nginx)).toMatchObject({ kind: 'unreachable', verdict: 'client_certificate_required' });
    expect(at(400, 'no')).toEqual(withheld('no_consent_headers'));
    expect(at(200, nginx)).toEqual(withheld('no_consent_headers'));
    expect(at(400, nginx, consent)).toEqual(granted());
    expect(at(505, '')).toEqual({ kind: 'unreachable', verdict: 'http2_only', evidence: '505' });
    expect(at(426, '', [['Upgrade', 'websocket, h2c']])).toMatchObject({ verdict: 'http2_only' });
    expect(at(426, '', [['Upgrade', 'TLS/1.3, h2clear']])).toEqual(withheld('no_consent_headers'));
  });
});

describe('WebHook-Allowed-Origin', () => {
  const judged = (criteria: Criteria, ...values: string[]) =>
    answer(criteria, [...values.map(allowedOrigin), allowedRate('120')]);

  test('is consent when it is our origin, in any case of ASCII letters, and is kept as it was written', () => {
    for (const value of [origin, 'EventEmitter.EXAMPLE.com']) {
      expect(judged(strict, value)).toEqual(granted({ allowedOrigin: value }));
    }
    expect(answer({ ...strict, origin: 'EVENTEMITTER.example.com' }, consent)).toEqual(granted());
  });

  test('is consent to every origin when it is exactly an asterisk', () => {
    expect(judged(strict, '*')).toEqual(granted({ verdict: 'granted_any_origin', allowedOrigin: '*' }));
  });

  test('has a case-insensitive name, and spaces and tabs around its value do not count', () => {
    for (const name of ['webhook-allowed-origin', 'WEBHOOK-ALLOWED-ORIGIN']) {
      const headers: Headers = [
        [name, ` \t${origin}\t `],
        ['webhook-ALLOWED-rate', '\t120 '],
      ];
      expect(answer(strict, headers)).toEqual(granted());
    }
  });

  test.each([
    ['another origin', 'eventgrid.azure.net'],
    ['an empty value', ''],
    ['white space', ' \t '],
    ['a name that begins with ours', `${origin}.attacker.tld`],
    ['a name that ends with ours', `evil${origin}`],
    ['a name below ours', `a.${origin}`],
    ['a name above ours', 'example.com'],
    ['the beginning of ours', 'eventemitter.example.co'],
    ['a pattern', '*.example.com'],
    ['a pattern of everything', '**'],
    ['a regular expression', '.*'],
    ['a regular expression of ours', 'eventemitter.example.co.'],
    ['a quoted asterisk', '"*"'],
    ['our origin as a URL', `https://${origin}`],
    ['our origin with a port', `${origin}:443`],
    ['our origin with a path', `${origin}/`],
    ['our origin in quotes', `"${origin}"`],
    ['our origin with a parameter', `${origin};q=1`],
    ['two origins separated by a space', `${origin} other.example.com`],
    ['two origins separated by a semicolon', `${origin};other.example.com`],
    ['our origin twice', `${origin}${origin}`],
    ['a NUL after ours', `${origin}\0`],
    ['a NUL inside', `${origin}\0.attacker.tld`],
    ['a line end after ours', `${origin}\n`],
    ['a no-break space around ours', `\u00a0${origin}`],
    ['a zero-width space', `${origin}\u200b`],
    ['a look-alike (Cyrillic e)', origin.replace('e', '\u0435')],
    ['a full-width asterisk', '\uff0a'],
    ['a full-width dot', origin.replace('.', '\uff0e')],
    ['an ideographic full stop at the end', `${origin}\u3002`],
    ['two dots at the end', `${origin}..`],
    ['the word null', 'null'],
  ])('is no consent when it is %s, by strict and by lenient judgement', (_what, value) => {
    expect(judged(strict, value)).toEqual(refused('origin_mismatch'));
    expect(judged(lenient, value)).toEqual(refused('origin_mismatch'));
  });

  test('is not compared by Unicode case: the Kelvin sign is not a k, the long s is not an s', () => {
    const criteria = { ...lenient, origin: 'kiosk.example.com' };
    expect(judged(criteria, '\u212aiosk.example.com')).toEqual(refused('origin_mismatch'));
    expect(judged(criteria, 'kio\u017fk.example.com')).toEqual(refused('origin_mismatch'));
  });

  test('is not compared by prefix: trusted.example.com.attacker.tld is not trusted.example.com', () => {
    const criteria = { ...lenient, origin: 'trusted.example.com' };
    expect(judged(criteria, 'trusted.example.com.attacker.tld')).toEqual(refused('origin_mismatch'));
    const attacker = { ...lenient, origin: 'trusted.example.com.attacker.tld' };
    expect(judged(attacker, 'trusted.example.com')).toEqual(refused('origin_mismatch'));
  });

  test('is not a property that every object has', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expect(answer(strict, [[name, origin]])).toEqual(withheld('no_consent_headers'));
    }
  });

  test.each([
    ['two lines', [origin, 'other.example.com']],
    ['two equal lines', [origin, origin]],
    ['two lines, one of them an asterisk', ['other.example.com', '*']],
    ['two asterisks', ['*', '*']],
    ['a list', [`other.example.com, ${origin}`]],
    ['a list with an empty member', [`${origin},`]],
    ['a list of others', ['a.example.com,b.example.com']],
  ])('that has several values (%s) is refused by strict judgement', (_what, values) => {
    expect(judged(strict, ...values)).toEqual(refused('origin_repeated'));
  });

  test.each([
    ['two lines', [origin, 'other.example.com'], ['origin_in_list'], origin],
    ['a list', [`other.example.com ,\tEVENTEMITTER.example.com`], ['origin_in_list'], 'EVENTEMITTER.example.com'],
    ['a list over two lines', ['a.example.com, b.example.com', `c.example.com, ${origin}`], ['origin_in_list'], origin],
    ['a list with an asterisk', [`*, ${origin}`], ['origin_in_list'], origin],
    ['a trailing dot', [`${origin}.`], ['origin_trailing_dot'], `${origin}.`],
    [
      'a list with a trailing dot',
      [`a.example.com, ${origin}.`],
      ['origin_in_list', 'origin_trailing_dot'],
      `${origin}.`,
    ],
    ['a list with and without the dot', [`${origin}., ${origin}`], ['origin_in_list'], origin],
  ])(
    'that contains our origin in %s is consent by lenient judgement, with a warning',
    (_what, values, tolerated, value) => {
      expect(judged(lenient, ...values)).toEqual(granted({ tolerated, allowedOrigin: value }));
    },
  );

  test('that is our origin with a trailing dot is refused by strict judgement', () => {
    expect(judged(strict, `${origin}.`)).toEqual(refused('origin_mismatch'));
  });

  test('that is a list without our origin is refused by lenient judgement too', () => {
    expect(judged(lenient, 'a.example.com, b.example.com')).toEqual(refused('origin_mismatch'));
    expect(judged(lenient, `${origin}.attacker.tld`, `evil-${origin}`)).toEqual(refused('origin_mismatch'));
  });

  test('that has an asterisk among several values is not consent to every origin', () => {
    expect(judged(lenient, '*', '*')).toEqual(refused('origin_repeated'));
    expect(judged(lenient, 'a.example.com, *')).toEqual(refused('origin_repeated'));
  });
});

describe('WebHook-Allowed-Rate', () => {
  const judged = (criteria: Criteria, ...values: string[]) =>
    answer(criteria, [allowedOrigin(origin), ...values.map(allowedRate)]);

  test('sets the rate, whether one was requested or not', () => {
    expect(judged(strict, '100')).toEqual(granted({ allowedRate: 100 }));
    expect(judged(unasked, '100')).toEqual(granted({ allowedRate: 100 }));
    expect(judged(unasked, '*')).toEqual(granted({ allowedRate: '*' }));
  });

  test.each(['121', '*'])('above the requested rate is recorded as returned: %s', (value) => {
    const allowedRate = value === '*' ? '*' : Number(value);
    expect(judged(strict, value)).toEqual(granted({ allowedRate, tolerated: ['rate_above_requested'] }));
  });

  test.each(['1000000000000000', '9'.repeat(40)])(
    'above the highest possible rate counts as that rate: %s',
    (value) => {
      const capped = { allowedRate: 999_999_999_999_999 };
      expect(judged(unasked, value)).toEqual(granted({ ...capped, tolerated: ['rate_capped'] }));
      expect(judged(strict, value)).toEqual(granted({ ...capped, tolerated: ['rate_above_requested', 'rate_capped'] }));
    },
  );

  test('is required if a rate was requested', () => {
    expect(judged(strict)).toEqual(refused('rate_missing'));
    expect(judged(lenient)).toEqual(granted({ allowedRate: 120, tolerated: ['rate_missing'] }));
  });

  test('if absent and not requested leaves the default rate of the origin', () => {
    for (const judgement of ['strict', 'lenient'] as const) {
      const criteria = { ...unasked, judgement };
      expect(judged(criteria)).toEqual(granted({ allowedRate: 60, tolerated: ['rate_defaulted'] }));
    }
  });

  test.each(['', '0', '-1', '+120', '1.5', '1e3', '120/min', '0120', '0x78', '**', '120\0', 'NaN'])(
    'that is %j is malformed and never becomes unlimited',
    (value) => {
      expect(judged(strict, value)).toEqual(refused('rate_malformed'));
      expect(judged(unasked, value)).toEqual(refused('rate_malformed'));
      expect(judged(lenient, value)).toEqual(granted({ allowedRate: 120, tolerated: ['rate_malformed'] }));
      const unaskedLenient: Criteria = { ...unasked, judgement: 'lenient' };
      expect(judged(unaskedLenient, value)).toEqual(granted({ allowedRate: 60, tolerated: ['rate_malformed'] }));
      expect(judged({ ...unaskedLenient, defaultRate: '*' }, value)).toEqual(refused('rate_malformed'));
    },
  );

  test.each([
    ['two lines', ['100', '200']],
    ['two equal lines', ['120', '120']],
    ['a list', ['120, 120']],
    ['a number and an asterisk', ['120', '*']],
  ])(
    'that has several values (%s) is refused, and by lenient judgement the requested rate applies',
    (_what, values) => {
      expect(judged(strict, ...values)).toEqual(refused('rate_repeated'));
      expect(judged(unasked, ...values)).toEqual(refused('rate_repeated'));
      expect(judged(lenient, ...values)).toEqual(granted({ allowedRate: 120, tolerated: ['rate_repeated'] }));
    },
  );

  test('does not make up for a wrong origin', () => {
    expect(answer(lenient, [allowedOrigin('other.example.com'), allowedRate('*')])).toEqual(refused('origin_mismatch'));
  });
});

describe('Allow', () => {
  test('that does not name POST is only a warning with a grant', () => {
    const judged = (...values: string[]) =>
      answer(strict, [...consent, ...values.map((value) => ['Allow', value] as const)]);
    expect(judged('GET, OPTIONS')).toEqual(granted({ tolerated: ['allow_without_post'] }));
    expect(judged('')).toEqual(granted({ tolerated: ['allow_without_post'] }));
    expect(judged('OPTIONS,POST')).toEqual(granted());
    expect(judged('GET', 'POST')).toEqual(granted());
  });
});

describe('a receiver in the field', () => {
  test.each<[string, Criteria, number, Headers, object]>([
    ['Express 5 without a handler', strict, 200, [['Allow', 'POST']], withheld('allow_only')],
    [
      'a web-pubsub handler with two endpoints, judged strictly',
      strict,
      200,
      [allowedOrigin('other.example.com'), allowedOrigin(origin)],
      refused('origin_repeated'),
    ],
    [
      'a web-pubsub handler with two endpoints, judged leniently',
      lenient,
      200,
      [allowedOrigin('other.example.com'), allowedOrigin(origin)],
      granted({ tolerated: ['origin_in_list', 'rate_missing'] }),
    ],
    ['the CloudEvents Go SDK that uses the callback', strict, 200, [], withheld('no_consent_headers')],
    ['the CloudEvents Go SDK that does not know the origin', strict, 400, [], withheld('no_consent_headers')],
    [
      'the CloudEvents Go SDK with its default rate',
      strict,
      200,
      [['Allow', 'POST'], allowedOrigin(origin), allowedRate('1000')],
      granted({ allowedRate: 1000, tolerated: ['rate_above_requested'] }),
    ],
    ["Brigade's gateway that calls back later", strict, 200, [], withheld('no_consent_headers')],
    ['the .NET SDK that mirrors the 404 of a callback', strict, 404, [], withheld('not_found_at_target')],
    ['the Spin demo', strict, 200, consent, granted()],
    [
      "Azure Functions' trigger that allows only Event Grid",
      lenient,
      200,
      [allowedOrigin('eventgrid.azure.net'), allowedRate('*')],
      refused('origin_mismatch'),
    ],
    [
      'a receiver that sends the request origin back',
      lenient,
      200,
      [
        ['WebHook-Request-Origin', origin],
        ['WebHook-Request-Rate', '120'],
      ],
      withheld('request_origin_echoed'),
    ],
    [
      "Knative's ingress",
      strict,
      200,
      [['Allow', 'POST, OPTIONS'], allowedOrigin('*'), allowedRate('*')],
      granted({
        verdict: 'granted_any_origin',
        allowedOrigin: '*',
        allowedRate: '*',
        tolerated: ['rate_above_requested'],
      }),
    ],
  ])('is judged correctly: %s', (_receiver, criteria, status, headers, judgement) => {
    expect(answer(criteria, headers, status)).toEqual(judgement);
  });
});

describe('no response', () => {
  test.each(['name_not_found', 'connection_refused', 'deadline_exceeded', 'certificate_invalid', 'aborted'] as const)(
    'because of %s is not a refusal',
    (code) => {
      expect(judge(strict, { kind: 'unanswered', code, detail: '', timing })).toEqual({
        kind: 'unreachable',
        verdict: code,
      });
    },
  );

  test.each(['address_not_allowed', 'sink_not_allowed'] as const)('because of %s is classified as blocked', (code) => {
    expect(judge(strict, { kind: 'blocked', code, detail: '', timing })).toEqual({
      kind: 'blocked',
      verdict: code,
    });
  });
});

test('the most and largest headers that can arrive are judged quickly', () => {
  const judgeAll = () => {
    answer(lenient, new Array<[string, string]>(100_000).fill(['a', '']));
    answer(lenient, [allowedOrigin(`a${' '.repeat(100_000)}b`), allowedRate(`1${' '.repeat(100_000)}x`)]);
    answer(lenient, [allowedOrigin(','.repeat(100_000)), allowedRate(','.repeat(100_000))]);
  };
  expect(cpuTime(judgeAll)).toBeLessThan(10_000);
});
