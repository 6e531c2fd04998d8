import { generate } from 'selfsigned';

/** Both in PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

export interface Authority extends KeyPair {
  /**
   * A server certificate for DNS names or addresses; valid from yesterday for a month by default. Its
   * common name is the first name, even if `alternatives` omits it.
   */
  issue(
    names: readonly string[],
    validity?: { notBeforeDate: Date; notAfterDate: Date },
    alternatives?: readonly string[],
  ): Promise<KeyPair>;
  /** A client certificate, for the same time. `cert` has those of its issuers behind it, without the root. */
  issueClient(name: string, validity?: { notBeforeDate: Date; notAfterDate: Date }): Promise<KeyPair>;
  /** An authority below this one. */
  authorize(name: string): Promise<Authority>;
}

const dayMs = 86_400_000;
const daysFromNow = (days: number): Date => new Date(Date.now() + days * dayMs);
const crypto = { keyType: 'ec', algorithm: 'sha256' } as const;
const usual = { notBeforeDate: daysFromNow(-1), notAfterDate: daysFromNow(30) };

export const expired = { notBeforeDate: daysFromNow(-30), notAfterDate: daysFromNow(-1) };
export const future = { notBeforeDate: daysFromNow(1), notAfterDate: daysFromNow(30) };

/** A certificate authority for one test file. `above`: the one that issued it, with the certificates between it and the root. */
export async function createAuthority(
  name = 'Assent test authority',
  above?: { ca: KeyPair; chain: string },
): Promise<Authority> {
  const made = await generate([{ name: 'commonName', value: name }], {
    ...crypto,
    ...usual,
    ...(above && { ca: above.ca }),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const ca = { cert: made.cert, key: made.private };
  const chain = above === undefined ? '' : `\n${ca.cert}${above.chain}`;
  return {
    ...ca,
    async issue(names, validity = usual, alternatives = names) {
      const altNames = alternatives.map((value) =>
        /^[\d.]+$|:/.test(value) ? ({ type: 7, ip: value } as const) : ({ type: 2, value } as const),
      );
      const leaf = await generate([{ name: 'commonName', value: names[0] ?? 'nobody' }], {
        ...crypto,
        ...validity,
        ca,
        extensions: [
          { name: 'basicConstraints', cA: false },
          { name: 'extKeyUsage', serverAuth: true },
          ...(altNames.length === 0 ? [] : [{ name: 'subjectAltName', altNames } as const]),
        ],
      });
      return { cert: leaf.cert, key: leaf.private };
    },
    async issueClient(client, validity = usual) {
      const leaf = await generate([{ name: 'commonName', value: client }], {
        ...crypto,
        ...validity,
        ca,
        extensions: [
          { name: 'basicConstraints', cA: false },
          { name: 'extKeyUsage', clientAuth: true },
        ],
      });
      return { cert: `${leaf.cert}${chain}`, key: leaf.private };
    },
    authorize: (below) => createAuthority(below, { ca, chain }),
  };
}

/** A certificate for this name that nobody else signed. */
export async function createSelfSigned(name: string): Promise<KeyPair> {
  const names = { name: 'subjectAltName' as const, altNames: [{ type: 2 as const, value: name }] };
  const made = await generate([{ name: 'commonName', value: name }], { ...crypto, ...usual, extensions: [names] });
  return { cert: made.cert, key: made.private };
}
