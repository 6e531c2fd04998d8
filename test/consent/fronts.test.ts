import { expect, test } from '@jest/globals';
import { fronts, presentFront } from '../../src/consent/fronts.js';
import { judge, type Criteria } from '../../src/consent/judgement.js';
import { advise } from '../../src/consent/verdicts.js';
import { observed } from '../../src/registry/handshake/explain.js';

// Responses as these services document them, or as they were seen.

const origin = 'eventemitter.example.com';
const criteria: Criteria = { origin, requestedRate: 120, defaultRate: 60, judgement: 'strict' };
const html = { 'Content-Type': 'text/html' };

/** The name, the status, the headers, the verdict, and whether the front must have written it. */
const responses: ReadonlyArray<[string, number, Record<string, string>, string, 'wrote' | 'passed']> = [
  [
    'Cloudflare',
    403,
    { Server: 'cloudflare', 'cf-mitigated': 'challenge', 'CF-RAY': '8f-AMS', ...html },
    'bot_protection',
    'wrote',
  ],
  ['Cloudflare', 403, { Server: 'cloudflare', 'CF-RAY': '8f-AMS', ...html }, 'authentication_required', 'passed'],
  ['Cloudflare', 521, { Server: 'cloudflare', 'CF-RAY': '8f-AMS' }, 'server_error', 'passed'],
  ['Cloudflare', 204, { 'CF-RAY': '8f-AMS' }, 'no_consent_headers', 'passed'],
  ['Vercel', 429, { Server: 'Vercel', 'X-Vercel-Mitigated': 'challenge' }, 'bot_protection', 'wrote'],
  ['Vercel', 404, { Server: 'Vercel', 'X-Vercel-Error': 'DEPLOYMENT_NOT_FOUND' }, 'not_found_at_target', 'wrote'],
  ['Vercel', 401, { Server: 'Vercel', ...html }, 'authentication_required', 'passed'],
  ['AWS WAF', 202, { Server: 'CloudFront', 'x-amzn-waf-action': 'challenge' }, 'bot_protection', 'wrote'],
  ['AWS Elastic Load Balancing', 403, { Server: 'awselb/2.0', ...html }, 'bot_protection', 'wrote'],
  ['AWS Elastic Load Balancing', 502, { Server: 'awselb/2.0', ...html }, 'server_error', 'wrote'],
  [
    'Amazon API Gateway or AWS Lambda',
    403,
    { 'x-amzn-ErrorType': 'MissingAuthenticationTokenException', 'x-amz-apigw-id': 'a=' },
    'authentication_required',
    'wrote',
  ],
  [
    'Amazon CloudFront',
    403,
    { Server: 'CloudFront', 'X-Cache': 'Error from cloudfront', Via: '1.1 a.cloudfront.net (CloudFront)' },
    'authentication_required',
    'passed',
  ],
  ['Amazon CloudFront', 403, { Server: 'CloudFront' }, 'authentication_required', 'wrote'],
  ['DataDome', 403, { 'x-datadome': 'protected', 'x-dd-b': '1' }, 'bot_protection', 'wrote'],
  ['DataDome', 403, { 'x-datadome': 'protected' }, 'authentication_required', 'passed'],
  [
    'Sucuri',
    403,
    { Server: 'Sucuri/Cloudproxy', 'X-Sucuri-ID': '11005', 'X-Sucuri-Block': 'DDOS' },
    'bot_protection',
    'wrote',
  ],
  ['Sucuri', 404, { Server: 'Sucuri/Cloudproxy', 'X-Sucuri-ID': '11005' }, 'not_found_at_target', 'passed'],
  ['Azure App Service', 403, { 'x-ms-forbidden-ip': '192.0.2.1', ...html }, 'bot_protection', 'wrote'],
  ['Akamai', 403, { Server: 'AkamaiGHost', 'Mime-Version': '1.0', ...html }, 'bot_protection', 'wrote'],
  ['Akamai', 501, { Server: 'AkamaiGHost', 'Mime-Version': '1.0', ...html }, 'unsupported', 'wrote'],
  [
    'Azure Application Gateway',
    403,
    { Server: 'Microsoft-Azure-Application-Gateway/v2', ...html },
    'bot_protection',
    'wrote',
  ],
  [
    'Azure Front Door',
    403,
    { 'x-azure-ref': '20261127T030000Z-1', 'X-Cache': 'CONFIG_NOCACHE' },
    'authentication_required',
    'passed',
  ],
  ['ngrok', 511, { 'ngrok-error-code': 'ERR_NGROK_6024', ...html }, 'bot_protection', 'wrote'],
  ['ngrok', 404, { 'ngrok-error-code': 'ERR_NGROK_3200', ...html }, 'unavailable', 'wrote'],
  ['ngrok', 502, { 'ngrok-error-code': 'ERR_NGROK_8012', ...html }, 'unavailable', 'wrote'],
  ['ngrok', 403, { 'ngrok-error-code': 'ERR_NGROK_3205', ...html }, 'bot_protection', 'wrote'],
  ['ngrok', 400, { 'ngrok-error-code': 'ERR_NGROK_3209' }, 'no_consent_headers', 'wrote'],
  ['Railway', 404, { Server: 'railway-edge', 'X-Railway-Fallback': 'true' }, 'unavailable', 'wrote'],
  ['Railway', 404, { Server: 'railway-edge', 'X-Railway-Edge': 'a' }, 'not_found_at_target', 'passed'],
  [
    'Kong',
    401,
    { Server: 'kong/3.9.0', 'X-Kong-Response-Latency': '1', 'WWW-Authenticate': 'Key' },
    'authentication_required',
    'wrote',
  ],
  ['Kong', 403, { Via: '1.1 kong/3.9.0', 'X-Kong-Upstream-Latency': '2' }, 'authentication_required', 'passed'],
  ['Imperva', 403, { 'X-Iinfo': '1-2-3 NNNN RT(1 2)', 'X-CDN': 'Imperva' }, 'authentication_required', 'passed'],
  ['Imperva', 503, { 'X-CDN': 'Incapsula' }, 'unavailable', 'passed'],
  ['F5 BIG-IP', 403, { Server: 'BigIP' }, 'authentication_required', 'passed'],
  ['FortiWeb', 403, { Server: 'FortiWeb-5.0' }, 'authentication_required', 'passed'],
  ['Barracuda', 403, { Server: 'BarracudaHTTP 4.0' }, 'authentication_required', 'passed'],
  ['Netlify', 404, { Server: 'Netlify', 'X-NF-Request-ID': '0' }, 'not_found_at_target', 'passed'],
  ['Heroku', 503, { Server: 'Heroku', ...html }, 'unavailable', 'passed'],
  ['Heroku', 204, { Via: '1.1 heroku-router' }, 'no_consent_headers', 'passed'],
  ['Google Cloud', 403, { Server: 'Google Frontend', ...html }, 'authentication_required', 'passed'],
  ['Google Cloud', 502, { Via: '1.1 google', ...html }, 'server_error', 'passed'],
  [
    'Fastly',
    403,
    { 'X-Served-By': 'cache-ams21000-AMS', Server: 'Varnish', Via: '1.1 varnish' },
    'authentication_required',
    'passed',
  ],
  ['Varnish', 405, { Via: '1.1 a (Varnish/7.5)' }, 'unsupported', 'passed'],
  ['Fly.io', 502, { Server: 'Fly/0a1b (2026-11-01)', Via: '1.1 fly.io' }, 'server_error', 'passed'],
  ['Render', 404, { 'rndr-id': 'a', 'x-render-origin-server': 'Render' }, 'not_found_at_target', 'passed'],
  ['Envoy', 403, { Server: 'istio-envoy' }, 'authentication_required', 'passed'],
];

const judged = (status: number, headers: Record<string, string>) => {
  const lines = Object.entries(headers);
  const reply = {
    kind: 'answered',
    status,
    headers: lines,
    remoteAddress: '192.0.2.1',
    timing: { totalMs: 1 },
  } as const;
  const { verdict } = judge(criteria, reply);
  return { verdict, facts: observed({ origin, sink: 'https://hooks.example/' }, lines) };
};

test.each(responses)('%s is named: %i %j', (name, status, headers, verdict, by) => {
  const result = judged(status, headers);
  expect([result.verdict, result.facts.front]).toEqual([verdict, { name, isOwn: by === 'wrote' }]);
  for (const language of ['en', 'nl'] as const) expect(advise(result.verdict, result.facts, language)).toContain(name);
});

test('each front is in the table of responses', () => {
  const isShown = ({ name, header, value }: (typeof fronts)[number]) =>
    responses.some(
      ([of, , headers]) =>
        of === name && Object.entries(headers).some(([key, text]) => key.toLowerCase() === header && value.test(text)),
    );
  expect(fronts.filter((front) => !isShown(front))).toEqual([]);
});

test('a front that consents, or lets the application consent, changes nothing', () => {
  const consent = { 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': '120' };
  for (const [, , headers] of responses) expect(judged(200, { ...headers, ...consent }).verdict).toBe('granted');
});

test('a response without a header of an application can be from the platform, and a 403 from a filter', () => {
  const bare = judged(204, { Date: 'Fri, 27 Nov 2026 03:00:00 GMT', 'Content-Length': '0' });
  expect(advise('no_consent_headers', bare.facts, 'en')).toContain('Azure Functions');
  expect(advise('no_consent_headers', bare.facts, 'nl')).toContain('Azure Functions');
  const said = judged(200, { 'Content-Type': 'text/plain' });
  expect(advise('no_consent_headers', said.facts, 'en')).not.toContain('Azure');
  const [forbidden, asked] = [judged(403, html), judged(401, { 'WWW-Authenticate': 'Basic' })];
  expect(advise('authentication_required', forbidden.facts, 'en')).toContain('User-Agent');
  expect(advise('authentication_required', forbidden.facts, 'nl')).toContain('User-Agent');
  expect(advise('authentication_required', asked.facts, 'en')).not.toContain('User-Agent');
  expect(presentFront(() => undefined)).toBeUndefined();
});
