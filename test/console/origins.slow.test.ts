import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectAccessible, inBrowser } from '../support/browser.js';
import { createAuthority } from '../support/certificates.js';
import { startConsole, type ConsoleStage } from '../support/console.js';

inBrowser('origins in the console', () => {
  let stage: ConsoleStage;
  const soon = {
    notBeforeDate: new Date(Date.now() - 86_400_000),
    notAfterDate: new Date(Date.now() + 10 * 86_400_000),
  };
  const policyOf = async (name: string) => (await stage.tenant.admin.get(`/v1/origins/${name}`)).body;

  beforeAll(async () => {
    stage = await startConsole();
    stage.registry.receiver.consent('/consents');
    await stage.tenant.register(stage.registry.receiver.sink('/consents'), { types: ['nl.example.person'] });
  });
  afterAll(() => stage?.stop());

  test('an admin registers an origin, reads its policy, makes it the default, and deletes it', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/origins');
    await page.getByRole('link', { name: stage.tenant.origin, exact: true }).waitFor();
    await page.getByRole('link', { name: 'Register an origin' }).click();
    await page.getByLabel('Name', { exact: true }).fill('not a name');
    await page.getByLabel('Description').fill('12');
    await page.getByText('Policy', { exact: true }).click();
    await page.getByLabel('Requested rate').fill('1200');
    await page.getByLabel('Lifetime of a grant').fill('many');
    await page.getByRole('button', { name: 'Register an origin' }).click();
    await page.waitForSelector('[aria-invalid]');
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('not a name');
    await page.getByLabel('Lifetime of a grant').fill('7200');
    await page.getByLabel('Name', { exact: true }).fill('permits.example.com');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Register an origin' }).click();
    await page.waitForSelector('h1:has-text("permits.example.com")');
    await page.getByRole('definition').getByText('1,200 per minute').waitFor();
    await page.getByRole('definition').getByText('2 hours').waitFor();
    expect(await policyOf('permits.example.com')).toMatchObject({ description: '12', isdefault: false });
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('button', { name: 'Make it the default' }).click();
    await page.waitForSelector(`dialog:has-text("The default is ${stage.tenant.origin} now")`);
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Make it the default' }).click();
    await page.locator('.title').getByText('default', { exact: true }).waitFor();
    expect((await policyOf(stage.tenant.origin)).isdefault).toBe(false);

    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.waitForSelector('h1:has-text("Origins")');
    await page.getByRole('link', { name: stage.tenant.origin, exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'permits.example.com', exact: true }).count()).toBe(0);
    await check();
  });

  test('an admin rotates the key of an origin, brings a public key, revokes one, proves the name in DNS, stores a client certificate, and sees the next handshake signed', async () => {
    const { receiver } = stage.registry;
    const { page, check } = await stage.open(['assent:admin'], `#/origins/${stage.tenant.origin}?tab=identity`);
    const rows = page.getByRole('table', { name: 'Keys' }).locator('tbody tr');
    const dialog = page.getByRole('dialog');
    const { x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
    await rows.first().getByText('signs').waitFor();
    await page.getByRole('button', { name: 'Make a key' }).click();
    await dialog.getByText('now', { exact: true }).click();
    await dialog.getByText('Verifiers keep a directory for 5 minutes.').waitFor();
    await page.getByLabel('stay in the directory for').selectOption('1 hour');
    await dialog.getByRole('button', { name: 'Make a key' }).click();
    await rows.filter({ hasText: 'published' }).getByText('in 1 hour').or(rows.getByText('in 59 minutes')).waitFor();
    const keyid = await rows.filter({ hasText: 'signs' }).locator('code').getAttribute('title');

    await page.getByRole('button', { name: 'Bring a key' }).click();
    await page.getByLabel('Public key (JWK)').fill(JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x, d: x }));
    await dialog.getByRole('button', { name: 'Bring a key' }).click();
    await dialog.getByText('This key has its private part').waitFor();
    await page.getByLabel('Public key (JWK)').fill(JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x }));
    await dialog.getByRole('button', { name: 'Bring a key' }).click();
    await rows.getByText('brought').waitFor();
    await rows
      .filter({ hasText: 'made here' })
      .filter({ hasText: 'published' })
      .getByRole('button', { name: 'Revoke' })
      .click();
    await dialog.getByText('It leaves the directory').waitFor();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await rows.getByText('revoked').waitFor();
    await page.getByText('For your own server').click();
    const directory = JSON.parse(await page.getByLabel('Directory document').innerText());
    expect(directory.keys.map(({ kid }: { kid: string }) => kid)).toContain(keyid);
    expect(directory.keys).toHaveLength(2);

    const proof = page.getByRole('region', { name: 'Proof of domain' });
    await page.getByRole('button', { name: 'Check now' }).click();
    await proof.getByText('There is no TXT record').waitFor();
    const [record, value] = await Promise.all(
      ['Name of the record', 'Value of the record'].map((label) => page.getByLabel(label).innerText()),
    );
    stage.registry.dns.zone[record ?? ''] = [value ?? ''];
    await page.getByRole('button', { name: 'Check now' }).click();
    await proof.getByRole('heading', { name: 'Verified by DNS' }).waitFor();
    await page.locator('.title .badge', { hasText: 'verified' }).waitFor();
    await rows.filter({ hasText: 'signs' }).getByRole('button', { name: 'Revoke' }).click();
    await dialog.getByText('The DNS record names this key.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Make a key' }).click();
    await dialog.getByText('The DNS record names a key made before.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    const card = page.getByRole('region', { name: 'Client certificate' });
    const { cert, key } = await (await createAuthority()).issueClient('sender', soon);
    await card.getByRole('button', { name: 'Upload' }).click();
    await page.getByLabel('Certificate and its chain (PEM)', { exact: true }).fill(cert);
    const file = { name: 'key.pem', mimeType: 'application/x-pem-file', buffer: Buffer.from(key) };
    await page.getByLabel('Choose a file: Private key (PEM)').setInputFiles(file);
    await dialog.getByRole('button', { name: 'Upload' }).click();
    await card.getByText('ends soon').waitFor();
    await card.getByText('CN=sender').waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 1280, height: 900 });
    await card.getByRole('button', { name: 'Remove' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await card.getByText('None. Webhooks that ask').waitFor();

    receiver.consent('/rotated');
    const { id } = await stage.tenant.register(receiver.sink('/rotated'), { origin: stage.tenant.origin });
    await page.evaluate(`location.hash = '#/subscriptions/${id}?tab=handshakes'`);
    await page.getByText('Signed by the key').click();
    await page
      .getByRole('definition')
      .getByText(keyid ?? '')
      .waitFor();
    await page.getByRole('definition').getByText('@target-uri').waitFor();
    await check();
    await stage.tenant.subscriber.delete(`/v1/subscriptions/${id}`).expect(200);
  });

  test('an origin that is used is not deleted, and its subscriptions are one link away', async () => {
    const { page, check } = await stage.open(['assent:admin'], `#/origins/${stage.tenant.origin}`);
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByText('origin_in_use').waitFor();
    const link = page.getByRole('link', { name: 'Show the subscriptions that use it' });
    expect(await link.getAttribute('href')).toContain(`origin=${stage.tenant.origin}`);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await check();
  });

  test('two admins edit one policy: the second is told, keeps what was typed, and overwrites only that', async () => {
    const { page, check } = await stage.open(['assent:admin'], `#/origins/${stage.tenant.origin}`);
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Requested rate').fill('77');
    await stage.tenant.admin
      .patch(`/v1/origins/${stage.tenant.origin}`)
      .type('application/merge-patch+json')
      .send(JSON.stringify({ judgement: 'lenient', requestedrate: 5 }))
      .expect(200);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.waitForSelector('text=This was changed while you had it open');
    expect(await page.getByLabel('Requested rate').inputValue()).toBe('77');
    expect((await policyOf(stage.tenant.origin)).requestedrate).toBe(5);
    await page.waitForSelector('text=Judgement: strict → lenient');
    expect(await page.getByLabel('Requested rate').inputValue()).toBe('77');
    await page.getByRole('button', { name: 'Use the present version and save' }).click();
    await page.getByRole('definition').getByText('77 per minute').waitFor();
    expect(await policyOf(stage.tenant.origin)).toMatchObject({ requestedrate: 77, judgement: 'lenient' });
    await check();
  });

  test('rules are rows or JSON without loss, start from what is subscribed, and show whom they refuse before they are saved', async () => {
    const { page, check } = await stage.open(['assent:admin'], `#/origins/${stage.tenant.origin}?tab=rules`);
    const rulesOf = async () => (await policyOf(stage.tenant.origin)).subscriptionrules;
    await page.getByText('Only as rules allow').click();
    await page.getByText('No rule: no subscription is allowed.').waitFor();
    await page.getByRole('button', { name: 'Start from what is subscribed today' }).click();
    await page.getByRole('button', { name: 'Remove nl.example.person' }).waitFor();
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.getByText('1 subscriptions examined: 0 refused').waitFor();

    await page.getByLabel('Sources').fill('urn:example:other');
    await page.getByLabel('Sources').press('Enter');
    await page.getByText('You changed the rules since.').waitFor();
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.getByText('1 subscriptions examined: 1 refused').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'zaaksysteem' }).waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 1280, height: 900 });

    await page.getByRole('button', { name: 'Edit as JSON' }).click();
    const json = page.getByLabel('Rules as JSON');
    expect(JSON.parse(await json.inputValue())).toEqual([
      {
        name: 'zaaksysteem',
        subscribers: ['zaaksysteem'],
        types: ['nl.example.person'],
        sources: ['urn:example:other'],
      },
    ]);
    await json.fill('[{]');
    await page.getByRole('button', { name: 'Edit as rows' }).click();
    await page.getByText('This is not JSON').waitFor();
    await json.fill('[{"name":"one", "types":"all"}]');
    await page.getByRole('button', { name: 'Edit as rows' }).click();
    await page.getByText('Rows cannot show this').waitFor();
    await json.fill('[{"name":"one", "types":["a"]}, {"name":"one", "types":[]}]');
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.locator('.faults code').getByText('/subscriptionrules/1/types').waitFor();
    await page.getByRole('button', { name: 'Edit as rows' }).click();
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.locator('.rules > li').last().locator('.faults').first().waitFor();
    await page.getByRole('button', { name: 'Remove one' }).last().click();

    const hostile = '<img src=x onerror=alert(1)>\u202E'.repeat(3);
    const claims = { department: ['permits', 7] };
    await page.getByRole('button', { name: 'Edit as JSON' }).click();
    await json.fill(JSON.stringify([{ name: hostile, claims, subscribers: ['somebody-else'] }]));
    await page.getByRole('button', { name: 'Edit as rows' }).click();
    await page.getByText('{"department":["permits",7]}').waitFor();
    expect(await rulesOf()).toBeUndefined();
    await page.getByRole('button', { name: 'Save the rules' }).click();
    await page.getByText('The rules are saved.').waitFor();
    expect(await rulesOf()).toEqual([{ name: hostile, claims, subscribers: ['somebody-else'] }]);

    await page.getByText('Everyone, to everything').click();
    await page.getByRole('button', { name: 'Save the rules' }).click();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('definition').getByText('everyone').waitFor();
    expect(await rulesOf()).toBeUndefined();
    await check();
  });

  test('an admin stops an origin, sees the effect first, and starts it again from its page', async () => {
    const sink = stage.registry.receiver.sink('/consents');
    const { page, check } = await stage.open(['assent:admin'], `#/origins/${stage.tenant.origin}`);
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('link', { name: 'Stop this origin' }).click();
    await page.getByRole('definition').getByText('zaaksysteem').waitFor();
    await page.getByLabel('Reason').fill('The key of the sender leaked.');
    await page.getByRole('button', { name: 'Block now' }).click();
    await page.getByRole('button', { name: 'Lift' }).waitFor();
    expect((await stage.tenant.permission(sink)).denial).toBe('blocked');
    await page.evaluate(`location.hash = '#/origins/${stage.tenant.origin}'`);
    await page.waitForSelector('text=This origin is stopped.');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Lift' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Lift' }).click();
    await page.getByText('This origin is stopped.').waitFor({ state: 'detached' });
    expect((await stage.tenant.permission(sink)).allowed).toBe(true);
    await check();
  });
});
