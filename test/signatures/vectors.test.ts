// What the standards themselves publish: an implementation that agrees with itself alone says nothing.

import { describe, expect, test } from '@jest/globals';
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { contentDigestOf, isDigestOf } from '../../src/signatures/content-digest.js';
import { isSignedBy, keysOf, publicKeyOf, thumbprintOf, type PublicKey } from '../../src/signatures/keys.js';
import {
  fieldsOf,
  prepareSignature,
  readSignatures,
  type SignedMessage,
} from '../../src/signatures/message-signature.js';
import { prepareDelivery } from '../../src/signatures/request-signature.js';
import { secretOf, signMessage, verifyMessage } from '../../src/signatures/standard-webhooks.js';
import { parsePage, readPage } from '../docs/markdown.js';

/** RFC 9421, appendix B.1.4. */
const jwk = { kty: 'OKP', crv: 'Ed25519', x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs' } as const;
const d = 'n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU';
const thumbprint = 'poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U';

const body = Buffer.from('{"hello": "world"}');
const digest = 'sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:';

const request = (
  fields: Record<string, string>,
  method = 'POST',
  url = 'https://example.com/foo?param=Value&Pet=dog',
) => ({
  method,
  url,
  fieldOf: fieldsOf(Object.entries(fields)),
});

const directory = `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"${thumbprint}","x":"${jwk.x}","use":"sig"}]}`;
const directoryDigest = 'sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:';

const webBotAuth = (agent: string, component: string, expires: number, nonce: string, signature: string) =>
  request(
    {
      'Signature-Agent': agent,
      'Signature-Input': `sig2=("@authority" ${component});created=1735689600;keyid="${thumbprint}";alg="ed25519";expires=${expires};nonce="${nonce}";tag="web-bot-auth"`,
      Signature: `sig2=:${signature}:`,
    },
    'GET',
    'https://example.com/path/to/resource',
  );

const vectors: Array<[name: string, message: SignedMessage]> = [
  [
    'RFC 9421, appendix B.2.6',
    request({
      Date: 'Tue, 20 Apr 2021 02:07:55 GMT',
      'Content-Type': 'application/json',
      'Content-Digest': digest,
      'Content-Length': '18',
      'Signature-Input':
        'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
      Signature: 'sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:',
    }),
  ],
  [
    'Web Bot Auth, Signature-Agent as a dictionary',
    webBotAuth(
      'agent2="https://signature-agent.test"',
      '"signature-agent";key="agent2"',
      4889289600,
      'n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==',
      'RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==',
    ),
  ],
  [
    'Web Bot Auth, Signature-Agent as a string',
    webBotAuth(
      '"https://signature-agent.test"',
      '"signature-agent"',
      1735693200,
      'e8N7S2MFd/qrd6T2R3tdfAuuANngKI7LFtKYI/vowzk4lAZYadIX6wW25MwG7DCT9RUKAJ0qVkU0mEeLElW1qg==',
      'jdq0SqOwHdyHr9+r5jw3iYZH6aNGKijYp/EstF4RQTQdi5N5YYKrD+mCT1HA1nZDsi6nJKuHxUi/5Syp3rLWBA==',
    ),
  ],
  [
    'Web Bot Auth, the response of a directory',
    {
      status: 200,
      fieldOf: fieldsOf([
        ['Content-Digest', directoryDigest],
        [
          'Signature-Input',
          `binding=("@authority";req "content-digest");created=1735689600;expires=4889289600;keyid="${thumbprint}";tag="http-message-signatures-directory"`,
        ],
        [
          'Signature',
          'binding=:l6P8R67tm3kujAxbHWio7ll01qrEZ0dKD/WWlGhNYEmTnFZM8Wt0VQ9zqGfvo7T/UMkBxsigzChM1Gpz7gOVBg==:',
        ],
      ]),
      request: request({}, 'GET', 'https://signature-agent.test/.well-known/http-message-signatures-directory'),
    },
  ],
];

describe.each(vectors)('%s', (_name, message) => {
  test('is verified, and refused with one bit changed', async () => {
    const [read] = readSignatures(message.fieldOf);
    const key = (await publicKeyOf(jwk)) as PublicKey;
    const base = read!.base(message);
    await expect(isSignedBy(key, read!.signature, base)).resolves.toBe(true);
    base[5]! ^= 1;
    await expect(isSignedBy(key, read!.signature, base)).resolves.toBe(false);
  });

  test('is what this code signs', () => {
    const [read] = readSignatures(message.fieldOf);
    // In the order of the vector, which Ed25519 signs to the same bytes.
    const prepared = prepareSignature(read!.label, read!.components, read!.parameters, message);
    expect(Buffer.from(prepared.base).toString()).toBe(Buffer.from(read!.base(message)).toString());
    const signature = sign(null, prepared.base, createPrivateKey({ key: { ...jwk, d }, format: 'jwk' }));
    const fields = prepared.fields(signature);
    expect(fields).toEqual({
      'Signature-Input': message.fieldOf('signature-input'),
      Signature: message.fieldOf('signature'),
    });
  });
});

test.each([
  ['64 components', Array.from({ length: 64 }, (_, at) => `"x-${at}"`), undefined],
  ['65 components', Array.from({ length: 65 }, (_, at) => `"x-${at}"`), 'more than 64 components'],
  ['members of a dictionary', ['"a";key="b"', '"a";key="c"', '"a"'], undefined],
  ['a component twice', ['"a"', '"@method"', '"a"'], 'a component twice'],
  ['a component twice, written in two ways', ['"a";key="b";req', '"a";req;key="b"'], 'a component twice'],
])('a signature of %s is read, or refused before anything is done for it', (_title, components, fault) => {
  const fieldOf = fieldsOf([
    ['Signature-Input', `s=(${components.join(' ')})`],
    ['Signature', 's=:AAAA:'],
  ]);
  const read = () => readSignatures(fieldOf);
  if (fault === undefined) expect(read()).toHaveLength(1);
  else expect(read).toThrow(fault);
});

test('the thumbprint of a key is that of RFC 8037, and of what a set has only the Ed25519 keys count', async () => {
  await expect(
    thumbprintOf({ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }),
  ).resolves.toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
  const rsa = { kty: 'RSA', n: 'AQAB', e: 'AQAB' };
  await expect(keysOf({ keys: [rsa, { ...jwk, d, alg: 'EdDSA' }, null, { ...jwk, x: 'short' }] })).resolves.toEqual([
    { ...jwk, kid: thumbprint },
  ]);
  await expect(keysOf('keys')).resolves.toEqual([]);
});

test('Content-Digest is that of RFC 9530, and each digest that is known must be right', async () => {
  await expect(isDigestOf(digest, body)).resolves.toBe(true);
  await expect(isDigestOf(directoryDigest, Buffer.from(directory))).resolves.toBe(true);
  const own = await contentDigestOf(body);
  await expect(isDigestOf(own, body)).resolves.toBe(true);
  const wrong = `${own}, ${digest.replace('WZDP', 'AAAA')}`;
  for (const field of ['', 'md5=:AAAA:', digest.replace('WZDP', 'AAAA'), wrong, 'sha-256="text"', '=']) {
    await expect(isDigestOf(field, body)).resolves.toBe(false);
  }
});

test('a message is signed as the example of Standard Webhooks', async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const message = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1614265330,
    body: Buffer.from('{"test": 2432232314}'),
  };
  const fields = await signMessage(message, [secret]);
  expect(fields['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  const fieldOf = fieldsOf(Object.entries(fields));
  await expect(verifyMessage(fieldOf, message.body, [secret], 1614265335)).resolves.toMatchObject({ ok: true });
  const other = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
  for (const [secrets, at, fault] of [
    [[other], 1614265335, 'signature_invalid'],
    [[secret], 1614265700, 'signature_expired'],
    [[secret], 1614264000, 'signature_early'],
  ] as const) {
    await expect(verifyMessage(fieldOf, message.body, secrets, at)).resolves.toMatchObject({ ok: false, fault });
  }
  const signed = fields['webhook-signature']!;
  const others = Array.from({ length: 30 }, () => 'v1,AAAA');
  for (const [value, fault] of [
    [`v2,x ${others.join(' ')} ${signed}`, undefined],
    [`v1,AAAA, ${signed}, v1,BBBB`, undefined],
    [`${signed.slice(0, -6)}AAAA=`, 'signature_invalid'],
    [`${'v1,AAAA '.repeat(512)}${signed}`, 'signature_malformed'],
  ] as const) {
    const given = fieldsOf(Object.entries({ ...fields, 'webhook-signature': value }));
    const verified = await verifyMessage(given, message.body, [other, secret], 1614265335);
    expect(verified.ok ? undefined : verified.fault).toBe(fault);
  }
  expect(secretOf('whsec_c2hvcnQ=')).toBeUndefined();
  expect(secretOf(secret.slice(6))).toBeUndefined();
});

test('a delivery is signed as the example for senders in other languages', async () => {
  const { fences } = parsePage(readPage('docs/senders/signatures.md'));
  const shown = (name: string) => fences.find(({ info }) => info === name)?.text.trimEnd() ?? '';
  const [head = '', content = ''] = shown('http signed').split('\n\n');
  const stated = new Map(
    head.split('\n').flatMap((line) => {
      const [, name, value] = /^([A-Za-z-]+): (.*)$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value] as const];
    }),
  );
  const sent = (name: string) => stated.get(name) ?? '';
  const text = (field: string, name: string) => new RegExp(`${name}="([^"]+)"`).exec(sent(field))?.[1] ?? '';
  const fieldNames = ['WebHook-Request-Origin', 'Content-Type'];
  const prepared = await prepareDelivery(
    {
      method: 'POST',
      url: 'https://webhook.example.com/events',
      headers: Object.fromEntries(fieldNames.map((name) => [name, sent(name)])),
      body: Buffer.from(content),
    },
    {
      keyid: thumbprint,
      form: 'dictionary',
      agent: { url: text('Signature-Agent', 'sig1'), type: 'jwks_uri' },
      now: 1795687200,
      nonce: text('Signature-Input', 'nonce'),
    },
  );
  expect(Buffer.from(prepared.base).toString()).toBe(shown('text base'));
  const key = createPrivateKey({ key: { ...jwk, d }, format: 'jwk' });
  for (const [name, value] of Object.entries(prepared.fields(sign(null, prepared.base, key)))) {
    expect([name, sent(name)]).toEqual([name, value]);
  }
});

/** "Taming the many EdDSAs" (Chalkias, Garillot, Nikolaenko, 2020), table 1: each point of small order, in each encoding. */
const weak = [
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0000000000000000000000000000000000000000000000000000000000000080',
  '0000000000000000000000000000000000000000000000000000000000000000',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  '0100000000000000000000000000000000000000000000000000000000000080',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
];
const okp = (x: string) => ({ kty: 'OKP', crv: 'Ed25519', x }) as const;

test('a key for which anyone can sign is no key, and neither is another spelling of one', async () => {
  // What such a key would do: this signature is one of every text.
  const [identity = ''] = weak;
  const forged = Buffer.from(identity + '00'.repeat(32), 'hex');
  const key = createPublicKey({ key: okp(Buffer.from(identity, 'hex').toString('base64url')), format: 'jwk' });
  expect(verify(null, Buffer.from('any text'), key, forged)).toBe(true);

  const keys = weak.map((hex) => okp(Buffer.from(hex, 'hex').toString('base64url')));
  // Of the 256 bits of a key; the alphabet spells two more.
  const spellings = ['t', 'u', 'v'].map((last) => okp(jwk.x.slice(0, -1) + last));
  expect(Buffer.from(spellings[0]!.x, 'base64url')).toEqual(Buffer.from(jwk.x, 'base64url'));
  expect(await keysOf({ keys: [...keys, ...spellings] })).toEqual([]);
  expect(await keysOf({ keys: [jwk] })).toMatchObject([jwk]);
});
