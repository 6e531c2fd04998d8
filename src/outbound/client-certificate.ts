import { createHash } from 'node:crypto';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { codeOf, RequestFailure } from './failure.js';

/** What this side shows in TLS to a target that asks for it. Both in PEM. */
export interface ClientCertificate {
  /** The certificate, then those that issued it, in order; without the root. */
  certificate: string;
  /** Without a passphrase. */
  privateKey: string;
}

/** Equal for the same certificate and key only. Reveals neither. */
export function identityOf({ certificate, privateKey }: ClientCertificate): string {
  return createHash('sha256').update(certificate).update('\0').update(privateKey).digest('base64url');
}

/** With an authority of its own, a context takes a megabyte and 25 ms. */
const maxContexts = 64;

/** The settings of TLS for a client certificate, or for none. Those that were used last are kept. */
export class SecureContexts {
  readonly #ca: string | undefined;
  readonly #plain: SecureContext;
  readonly #byIdentity = new Map<string, SecureContext>();

  /** `ca` is trusted in addition to the default roots. Throws if it is invalid. */
  constructor(ca: string | undefined) {
    this.#ca = ca;
    this.#plain = this.#create({});
  }

  /** Throws RequestFailure for a certificate or a key that cannot be used. */
  of(shown: ClientCertificate | undefined): SecureContext {
    if (shown === undefined) return this.#plain;
    const identity = identityOf(shown);
    const context = this.#byIdentity.get(identity) ?? this.#with(shown);
    this.#byIdentity.delete(identity);
    this.#byIdentity.set(identity, context);
    const [oldest] = this.#byIdentity.keys();
    if (oldest !== undefined && this.#byIdentity.size > maxContexts) this.#byIdentity.delete(oldest);
    return context;
  }

  #with({ certificate, privateKey }: ClientCertificate): SecureContext {
    try {
      return this.#create({ cert: certificate, key: privateKey });
    } catch (error) {
      const code = codeOf(error);
      throw new RequestFailure('tls_failed', `The client certificate of this side cannot be used (${code}).`, code);
    }
  }

  #create(shown: { cert?: string; key?: string }): SecureContext {
    const ca = this.#ca === undefined ? {} : { ca: [...rootCertificates, this.#ca] };
    return createSecureContext({ minVersion: 'TLSv1.2', ...ca, ...shown });
  }
}
