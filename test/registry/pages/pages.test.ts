import { afterAll, beforeAll, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { startJwksServer, type JwksServer } from '../../support/jwks-server.js';
import { startRegistry, type Registry } from '../../support/registry.js';

let registry: Registry;
let nobody: ReturnType<typeof supertest>;
let issuers: JwksServer;

/** Where issuers want to be asked for a token, by their path. One is well-behaved. */
const endpoints = [
  'https://login.example.com/token',
  'https://a;script-src.example.com/token',
  'https://a;script-src/',
  'https://*/',
  'https://*.example.com/token',
  "https://a'unsafe-inline'/",
  'https://a,b.example.com/',
  'https://a;script-src%20https:/token',
  'javascript:alert(1)',
  'data:text/html,a',
  'wss://a.example.com/',
];

beforeAll(async () => {
  issuers = await startJwksServer();
  issuers.answers(({ url = '' }, response) => {
    const place = Number(/\/i(\d+)\/\.well-known/.exec(url)?.[1]);
    const issuer = issuers.url.replace('jwks', `i${place}`);
    const endpoint = endpoints[place];
    response.end(JSON.stringify({ issuer, authorization_endpoint: endpoint, token_endpoint: endpoint }));
  });
  const configured = endpoints.map((_, place) => ({
    issuer: issuers.url.replace('jwks', `i${place}`),
    audience: 'assent',
    jwks: issuers.url,
    consoleclient: 'console',
  }));
  registry = await startRegistry({
    env: {
      ASSENT_OPERATOR: 'Gemeente <Voorbeeld>',
      ASSENT_CONTACT: 'beheer@gemeente.example <desk>',
      ASSENT_SECURITY_CONTACT: 'mailto:security@example.com',
      ASSENT_ISSUERS: JSON.stringify([
        { issuer: 'https://login.example.com/realms/x?a=1&b=2', audience: 'assent', jwks: 'http://127.0.0.1:9/jwks' },
        ...configured,
      ]),
    },
  });
  nobody = supertest(registry.url);
});
afterAll(async () => {
  await registry.stop();
  await issuers.stop();
});

test('the metadata of an issuer adds one origin to the policy of the console, which knows its operator', async () => {
  const { headers, text } = await nobody.get('/console').expect(200);
  const policy = String(headers['content-security-policy']);
  expect(policy.split('; ').filter((each) => /^(connect|script)-src/.test(each))).toEqual([
    "script-src 'self'",
    "connect-src 'self' https://login.example.com",
  ]);
  expect(policy).not.toMatch(/[*,]|unsafe/);
  const settings = JSON.parse(/id="settings">(.*?)<\/script>/.exec(text)?.[1] ?? '');
  expect(settings.issuers).toHaveLength(1);
  expect(settings).toMatchObject({ operator: 'Gemeente <Voorbeeld>', contact: 'beheer@gemeente.example <desk>' });
  // Until its script has run, the page is not blank.
  expect(text).toContain('<h1 class="unseen">Assent</h1>');
});

const browser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

test.each([
  [{}, 'application/json'],
  [{ Accept: '*/*' }, 'application/json'],
  [{ Accept: 'application/json' }, 'application/json'],
  [{ Accept: 'image/png' }, 'application/json'],
  [browser, 'text/html'],
])('/ for %j is %s', async (headers, type) => {
  const response = await nobody.get('/').set(headers).expect(200);
  expect(response.type).toBe(type);
  expect(response.get('Vary')).toBe('Accept, Accept-Language');
  const head = await nobody.head('/').set(headers).expect(200);
  expect(head.get('Content-Length')).toBe(response.get('Content-Length'));
});

test('for programs / has the versions, and relative links that lead somewhere', async () => {
  const { body } = await nobody.get('/').expect(200);
  expect(body).toMatchObject({ name: 'Assent', version: expect.any(String), apiversion: '1.0.0-rc' });
  expect(Object.keys(body.links)).toEqual(['console', 'reference', 'guides', 'contract', 'security']);
  for (const link of Object.values<string>(body.links)) {
    expect(link).not.toMatch(/^(?:\/|\w+:)/);
    await nobody.get(`/${link}`).expect(200);
  }
});

test('the landing page is in English or Dutch, and names where a token comes from', async () => {
  const read = async (language: string) => {
    const { text, headers } = await nobody.get('/').set(browser).set('Accept-Language', language).expect(200);
    return { text, language: headers['content-language'] };
  };
  const [english, dutch] = [await read('fr, en;q=0.5'), await read('nl-BE, en;q=0.5')];
  expect([english.language, dutch.language]).toEqual(['en', 'nl']);
  expect(english.text).toContain('<html lang="en">');
  expect(english.text).toContain('<h2 id="consumer">I receive events</h2>');
  expect(dutch.text).toContain('<html lang="nl">');
  const chosen = await nobody.get('/?language=nl').set(browser).expect(200).expect('Content-Language', 'nl');
  expect(chosen.text).toBe(dutch.text);
  expect(dutch.text).toContain('<h2 id="consumer">Ik ontvang gebeurtenissen</h2>');
  for (const { text } of [english, dutch]) {
    expect(text).toContain(`ASSENT_DATA=${registry.env['ASSENT_DATA']} npx assent token --scope assent:subscribe\n`);
    expect(text).toContain('<code>https://login.example.com/realms/x?a=1&amp;b=2</code>');
  }
});

test.each(['/', '/docs', '/guides/', '/guides/admins/console', '/nothing', '/a/nothing'])(
  '%s names the operator, the contact and the version, and links to the accessibility statement and security.txt',
  async (path) => {
    const { text } = await nobody.get(path).set(browser);
    const [footer = ''] = /<footer>.*<\/footer>/s.exec(text) ?? [];
    expect(footer).toContain('<strong>Gemeente &lt;Voorbeeld&gt;</strong> runs this registry.');
    expect(footer).toContain(
      '<a href="mailto:beheer@gemeente.example" rel="noreferrer">beheer@gemeente.example</a> &lt;desk&gt;',
    );
    expect(footer).toMatch(/Assent \d+\.\d+\.\d+\S* · API 1\.0\.0-rc/);
    const [, ...addresses] = [...footer.matchAll(/<a href="([^"]*)"/g)].map(([, address]) => address ?? '');
    const paths = addresses.map((address) => new URL(address, registry.url + path).pathname);
    expect(paths).toEqual(['/guides/', '/docs', '/guides/accessibility', '/.well-known/security.txt']);
    for (const each of paths) await nobody.get(each).expect(200);
  },
);

test.each(['/nothing', '/guides/nothing', '/v1/a/b/c?x=/y/z', '/console/nothing', '/%zz', '//nothing'])(
  'at %s a browser gets a page with a way on, and a program a problem',
  async (path) => {
    const page = await nobody.get(path).set(browser).set('Accept-Language', 'nl');
    const problem = await nobody.get(path);
    expect([page.type, problem.type]).toEqual(['text/html', 'application/problem+json']);
    expect([page.status, page.get('Vary')]).toEqual([problem.status, 'Accept, Accept-Language']);
    expect([400, 404]).toContain(page.status);
    const [main = ''] = /<main.*<\/main>/s.exec(page.text) ?? [];
    const links = [...main.matchAll(/<a [^>]*href="([^"]*)">([^<]*)/g)];
    expect(links.map(([, , name]) => name)).toEqual(['Startpagina', 'Console']);
    const loaded = page.text.matchAll(/<(?:link|img) [^>]*(?:href|src)="([^"]*)"/g);
    for (const [, address = ''] of [...links, ...loaded]) {
      const { pathname } = new URL(address, registry.url + path);
      await nobody.get(pathname).expect(200);
    }
  },
);

test.each(['/', '/docs', '/guides/', '/guides/consumers/receive', '/guides/decisions/README'])(
  'links of %s lead to what exists, relative to the page, or to other hosts over https',
  async (path) => {
    const { text } = await nobody.get(path).set(browser).expect(200);
    const references = [...text.matchAll(/ (?:src|href)="([^"]*)"/g)].map(([, reference]) => reference ?? '');
    expect(references.length).toBeGreaterThan(5);
    const own = references.filter((reference) => !/^(?:https:\/\/|mailto:)/.test(reference));
    const addresses = new Set<string>();
    for (const reference of own) {
      expect(reference).not.toMatch(/^(?:\/|\w+:)/);
      const { pathname, hash } = new URL(reference.replaceAll('&amp;', '&'), `${registry.url}${path}`);
      if (pathname === path && hash !== '') expect(text).toContain(`id="${decodeURIComponent(hash.slice(1))}"`);
      addresses.add(pathname);
    }
    for (const address of addresses) await nobody.get(address).expect(200);
  },
);

test.each(['/', '/docs', '/guides/', '/guides/architecture'])(
  '%s runs no script and no style but those of this host',
  async (path) => {
    const { text, headers } = await nobody.get(path).set(browser).expect(200);
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self';.*connect-src 'self'$/,
    );
    expect(policy).not.toMatch(/unsafe|\*|data:|https?:/);
    expect(text).not.toMatch(/<style|<script>| style=| on\w+=/);
  },
);

test.each([
  ['/docs/', '../docs'],
  ['/console/', '../console'],
  ['/guides', 'guides/'],
])('%s leads to %s, also behind a proxy that puts a path in front', async (path, location) => {
  expect((await nobody.get(path).expect(308)).get('Location')).toBe(location);
});

test('a guide keeps the anchors that GitHub makes, and a link to a file that is no page stays as text', async () => {
  const { text } = await nobody.get('/guides/senders/http').expect(200);
  expect(text).toMatch(/<h2 id="[a-z0-9-]+">/);
  expect(text).not.toMatch(/href="(?!https:)[^"]*\.(?:md|py|go)["#]/);
});

test('a guide shows its diagrams as pictures with a text for those who do not see them', async () => {
  const { text } = await nobody.get('/guides/architecture').expect(200);
  const diagrams = [...text.matchAll(/<svg [\s\S]*?<\/svg>/g)].map(([diagram]) => diagram);
  expect(diagrams.length).toBeGreaterThan(3);
  for (const diagram of diagrams) {
    const [, title, description] =
      /role="img" aria-labelledby="([\w-]+)" aria-describedby="([\w-]+)"/.exec(diagram) ?? [];
    expect(diagram).toMatch(new RegExp(`<title id="${title}">[^<]+</title><desc id="${description}">[^<]{20,}</desc>`));
  }
  expect(text).not.toMatch(/stateDiagram|flowchart|accTitle/);
  const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  expect(ids).toEqual([...new Set(ids)]);
});

test('the guides follow each other in reading order, from the first to the last', async () => {
  const read = async (path: string) => (await nobody.get(path).expect(200)).text;
  const listed = [...(await read('/guides/')).matchAll(/<li><a href="([^"#]+)">/g)].map(
    ([, path]) => `/guides/${path}`,
  );
  expect(listed.slice(0, 2)).toEqual(['/guides/quickstart', '/guides/concepts']);
  const followed = [listed[0]!];
  for (let next: string | undefined = listed[0]; next !== undefined && followed.length <= listed.length;) {
    const [, address] = /<a rel="next" href="([^"]+)">/.exec(await read(next)) ?? [];
    next = address && new URL(address, `${registry.url}${next}`).pathname;
    if (next !== undefined) followed.push(next);
  }
  expect(followed).toEqual(listed);
});

test('what the search finds has a page, and the heading that it names', async () => {
  const { body } = await nobody.get('/assets/guides-index.json').expect(200);
  const guides: Array<[path: string, title: string, sections: Array<[id: string, name: string, text: string]>]> = body;
  expect(guides.length).toBeGreaterThan(40);
  for (const [path, title, sections] of guides) {
    const { text } = await nobody.get(`/guides/${path}`).expect(200);
    expect(title).not.toBe('');
    for (const [id, , words] of sections) {
      expect(words).not.toMatch(/<(?:p|td|a|code)\b|&(?:amp|lt|quot);/);
      if (id !== '') expect(text).toContain(`id="${id}"`);
    }
  }
});
