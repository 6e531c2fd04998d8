import { generate } from 'selfsigned';

/** Both in PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

interface Authority {
  /** For programs that trust the authority. Its key is not exposed. */
  cert: string;
  /** A server certificate for names or IPv4 addresses. */
  issue(names: readonly string[]): Promise<Certificate>;
}

const dayMs = 86_400_000;
const crypto = { keyType: 'ec', algorithm: 'sha256' } as const;

/** A certificate authority for webhooks. Its key is not stored. Valid for `days`, and since yesterday. */
export async function createAuthority(name: string, days: number): Promise<Authority> {
  const validity = { notBeforeDate: new Date(Date.now() - dayMs), notAfterDate: new Date(Date.now() + days * dayMs) };
  const authority = await generate([{ name: 'commonName', value: name }], {
    ...crypto,
    ...validity,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return {
    cert: authority.cert,
    async issue(names) {
      const altNames = names.map((value) =>
        /^[\d.]+$/.test(value) ? ({ type: 7, ip: value } as const) : ({ type: 2, value } as const),
      );
      const leaf = await generate([{ name: 'commonName', value: names[0] ?? 'localhost' }], {
        ...crypto,
        ...validity,
        ca: { cert: authority.cert, key: authority.private },
        extensions: [
          { name: 'basicConstraints', cA: false },
          { name: 'extKeyUsage', serverAuth: true },
          { name: 'subjectAltName', altNames },
        ],
      });
      return { cert: leaf.cert, key: leaf.private };
    },
  };
}
