import { describe, expect, test } from '@jest/globals';
import { loadContract } from '../../../src/base/contract/contract.js';
import { methods, type SecurityRequirement } from '../../../src/base/contract/document.js';
import { servedContract } from '../../../src/registry/http/served-contract.js';

describe('the contract that a registry serves', () => {
  const { document } = loadContract();
  const issuer = 'https://login.example.nl/realms/gemeente';
  const openId = { type: 'openIdConnect', openIdConnectUrl: `${issuer}/.well-known/openid-configuration` };
  const bearer = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' };
  const operator = { issuers: [issuer], developmentIssuer: false };

  test.each([
    ['the issuer of the configuration', operator, { oauth: openId }],
    [
      'every issuer',
      { ...operator, issuers: [`${issuer}/`, 'https://b.nl'] },
      { oauth: openId, oauth2: { type: 'openIdConnect' } },
    ],
    ['an issuer and its own tokens', { ...operator, developmentIssuer: true }, { oauth: openId, oauth2: bearer }],
    ['its own tokens', { issuers: [], developmentIssuer: true }, { oauth: bearer }],
    ['an issuer whose name is no address', { ...operator, issuers: ['our issuer'] }, { oauth: bearer }],
  ])('names %s, and each operation accepts a token of any', (_, configured, schemes) => {
    const served = servedContract(document, configured);
    expect(served.components.securitySchemes).toMatchObject(schemes);
    expect(Object.keys(served.components.securitySchemes)).toEqual(Object.keys(schemes));
    for (const [path, item] of Object.entries(served.paths)) {
      for (const method of methods) {
        const scopes = document.paths[path]?.[method]?.security?.map(({ oauth }) => oauth);
        for (const name of Object.keys(schemes)) {
          const accepted = (item[method]?.security as readonly SecurityRequirement[] | undefined)?.flatMap(
            ({ [name]: own }) => (own ? [own] : []),
          );
          expect([path, method, accepted]).toEqual([path, method, scopes]);
        }
      }
    }
  });

  test.each([
    ['a mail address', 'beheer@gemeente.nl', { email: 'beheer@gemeente.nl' }],
    ['a URL', 'https://gemeente.nl/webhooks', { url: 'https://gemeente.nl/webhooks' }],
    ['no address', 'the service desk', undefined],
    ['nothing', undefined, undefined],
  ])('has the contact of the operator, which is %s, and no placeholder', (_, contact, expected) => {
    const served = servedContract(document, { ...operator, contact });
    const name = 'The operator of this registry';
    expect(served.info.contact).toEqual(expected && { name, ...expected });
    const texts: string[] = [];
    JSON.stringify(served, (key, value: unknown) => {
      // Examples, also those in prose.
      if (/^(examples?|description)$/.test(key)) return undefined;
      if (typeof value === 'string') texts.push(value);
      return value;
    });
    expect(texts.length).toBeGreaterThan(1_000);
    expect(texts.filter((text) => /example\.(com|org|net)/.test(text))).toEqual([]);
  });
});
