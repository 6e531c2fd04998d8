import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { offer } from '../../support/offer.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

let registry: Registry;
let tenant: Tenant;

beforeAll(async () => {
  registry = await startRegistry({ reachable: true });
  tenant = await createTenant(registry);
});
afterAll(() => registry.stop());

type Headers = Record<string, string>;

/** With these headers and no others: `fetch` adds its own. Resolves with the status and the media type. */
function send(url: string, headers: Headers, form?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = form === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' };
    const options = { method: form === undefined ? 'GET' : 'POST', headers: { ...headers, ...sent } };
    httpRequest(url, options, (response) => {
      response.resume();
      resolve(`${response.statusCode} ${response.headers['content-type']?.split(';')[0]}`);
    })
      .on('error', reject)
      .end(form);
  });
}

const html = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const chrome = {
  'User-Agent':
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
  'Accept-Language': 'en-GB,en;q=0.9',
  'sec-ch-ua': '"Google Chrome";v="131", "Chromium";v="131", "Not_A Brand";v="24"',
};
const firefox = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0' };
/** Without Fetch Metadata, which Safari has since version 16.4. */
const safari15 = {
  'User-Agent':
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/15.6 Safari/605.1.15',
};
const fetched = (site: string, mode: string, dest: string): Headers => ({
  'Sec-Fetch-Site': site,
  'Sec-Fetch-Mode': mode,
  'Sec-Fetch-Dest': dest,
});
const opened = (site: string): Headers => ({
  ...chrome,
  Accept: html,
  'Upgrade-Insecure-Requests': '1',
  'Sec-Fetch-User': '?1',
  ...fetched(site, 'navigate', 'document'),
});
const images = 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8';
const evil = 'https://evil.example';
const allow = 'decision=allow';
const own = () => new URL(registry.url).origin;

const problem = '409 application/problem+json';
const page = '200 text/html';
const refusedPage = '409 text/html';

const agents = [
  'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  'Slack-ImgProxy (+https://api.slack.com/robots)',
  'Twitterbot/1.0',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'meta-externalfetcher/1.1',
  'WhatsApp/2.23.20.0 A',
  'TelegramBot (like TwitterBot)',
  'LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)',
  'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
  'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com',
  'Mattermost-Bot/1.1',
  'Synapse (bot; +https://github.com/matrix-org/synapse)',
  'Mastodon/4.2.1 (http.rb/5.1.1; +https://mastodon.example/)',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
  // Mail scanners that imitate a browser.
  chrome['User-Agent'],
  'Mozilla/5.0',
];

test('whatever loads a callback URL without a person, or posts another form, decides nothing', async () => {
  const { callback, id, sink } = await offer(registry, tenant);
  const before = await tenant.read(id);
  const cases: Array<[what: string, expected: string, headers: Headers, form?: string]> = [
    ['an image', problem, { ...chrome, Accept: images, ...fetched('cross-site', 'no-cors', 'image') }],
    ['an image, Firefox', problem, { ...firefox, Accept: images, ...fetched('cross-site', 'no-cors', 'image') }],
    ['an image, Safari 15', problem, { ...safari15, Accept: 'image/webp,image/*;q=0.8,*/*;q=0.5' }],
    ['a script', problem, { ...chrome, Accept: '*/*', ...fetched('cross-site', 'no-cors', 'script') }],
    ['a script, Safari 15', problem, { ...safari15, Accept: '*/*' }],
    [
      'a style sheet',
      problem,
      { ...chrome, Accept: 'text/css,*/*;q=0.1', ...fetched('same-site', 'no-cors', 'style') },
    ],
    ['a frame', refusedPage, { ...chrome, Accept: html, ...fetched('cross-site', 'navigate', 'iframe') }],
    ['an object', refusedPage, { ...chrome, Accept: html, ...fetched('cross-site', 'navigate', 'object') }],
    ['fetch', problem, { ...chrome, Accept: '*/*', Origin: evil, ...fetched('cross-site', 'cors', 'empty') }],
    ['fetch of our own pages', problem, { ...chrome, Accept: '*/*', ...fetched('same-origin', 'cors', 'empty') }],
    [
      'fetch with a header of consent',
      problem,
      { ...chrome, Accept: '*/*', 'WebHook-Allowed-Rate': '5', ...fetched('same-origin', 'cors', 'empty') },
    ],
    [
      'sendBeacon',
      problem,
      { ...chrome, Accept: '*/*', Origin: evil, ...fetched('cross-site', 'no-cors', 'empty') },
      '',
    ],
    ['fetch, Safari 15', problem, { ...safari15, Accept: '*/*', Origin: evil }, allow],
    ['a POST, Safari 15', problem, { ...safari15, Accept: '*/*', Origin: evil }, ''],
    ['a form of another site', refusedPage, { ...opened('cross-site'), Origin: evil }, allow],
    ['a form of another site, no referrer', refusedPage, { ...opened('cross-site'), Origin: 'null' }, allow],
    ['a form of a neighbour', refusedPage, { ...opened('same-site'), Origin: 'https://www.assent.test' }, allow],
    ['a form typed by nobody', refusedPage, opened('none'), allow],
    ['a form of another host', refusedPage, { ...opened('same-origin'), Origin: evil }, allow],
    ['a form of another site, Safari 15', refusedPage, { ...safari15, Accept: html, Origin: evil }, allow],
    ['a form without a page, Safari 15', refusedPage, { ...safari15, Accept: html, Origin: 'null' }, allow],
    ['a form of another site that refuses', refusedPage, { ...opened('cross-site'), Origin: evil }, 'decision=refuse'],
    ['a part of the page', problem, { 'User-Agent': 'curl/8.5.0', Accept: '*/*', Range: 'bytes=0-32767' }],
    ['a prefetch, Safari', refusedPage, { ...safari15, Accept: html, 'X-Purpose': 'preview' }],
    ...agents.map((agent): [string, string, Headers] => [agent, problem, { 'User-Agent': agent, Accept: '*/*' }]),
    ['a link in a chat that a person opens', page, opened('cross-site')],
    ['a link that is pasted', page, opened('none')],
    ['a link, CUBOT', page, { 'User-Agent': 'Mozilla/5.0 (Linux; Android 13; CUBOT X70) Chrome/120', Accept: html }],
    ['a POST of another site without a decision', page, { ...opened('cross-site'), Origin: evil }, ''],
  ];
  const seen: Array<[string, string]> = [];
  for (const [what, , headers, form] of cases) seen.push([what, await send(callback, headers, form)]);
  expect(seen).toEqual(cases.map(([what, expected]) => [what, expected]));
  expect(await tenant.read(id)).toEqual(before);
  expect(await tenant.permission(sink)).toMatchObject({ allowed: false });
});

const deciding: Array<[what: string, headers: () => Headers, form?: string]> = [
  ['curl', () => ({ 'User-Agent': 'curl/8.5.0', Accept: '*/*' })],
  ['a POST of curl', () => ({ 'User-Agent': 'curl/8.5.0', Accept: '*/*' }), ''],
  ['Go', () => ({ 'User-Agent': 'Go-http-client/1.1', 'Accept-Encoding': 'gzip' })],
  [
    'Node, whose fetch sends one header of Fetch Metadata',
    () => ({ 'User-Agent': 'node', Accept: '*/*', 'Sec-Fetch-Mode': 'cors' }),
  ],
  ['axios', () => ({ 'User-Agent': 'axios/1.7.9', Accept: 'application/json, text/plain, */*' })],
  ['Java', () => ({ 'User-Agent': 'Java/17.0.1', Accept: 'text/html, image/gif, image/jpeg, */*; q=0.2' }), allow],
  ['no User-Agent', () => ({})],
  [
    'PowerShell',
    () => ({ 'User-Agent': 'Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.19041' }),
  ],
  ['a program that says it is a browser, POST', () => ({ 'User-Agent': 'Mozilla/3.0 (compatible; Indy Library)' }), ''],
  [
    'a program that says it is a browser, with a rate',
    () => ({ 'User-Agent': 'Mozilla/3.0 (compatible; Indy Library)', 'WebHook-Allowed-Rate': '5' }),
  ],
  ['a bot with a rate', () => ({ 'User-Agent': 'deploybot/1.0', 'WebHook-Allowed-Rate': '5' })],
  ['a POST of a bot', () => ({ 'User-Agent': 'deploybot/1.0' }), ''],
  ['the form of the page', () => ({ ...opened('same-origin'), Origin: own() }), allow],
  [
    'the form of the page, in a browser that hides its origin',
    () => ({ ...opened('same-origin'), Origin: 'null' }),
    allow,
  ],
  ['the form of the page, Safari 15', () => ({ ...safari15, Accept: html, Origin: own() }), allow],
];

test.each(deciding.map(([what, headers, form]) => [what, { headers, form }] as const))(
  'consent by %s',
  async (_what, { headers, form }) => {
    const { callback, sink } = await offer(registry, tenant);
    expect(await send(callback, headers(), form)).toMatch(/^200 /);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true, basis: 'callback' });
  },
);
