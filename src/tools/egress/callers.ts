import { createHash, timingSafeEqual } from 'node:crypto';
import { RegistryError, type FaultRule } from '../../base/errors.js';
import type { Principal } from '../../base/contract/principal.js';
import { parseIp, type IpAddress } from '../../base/formats/ip-address.js';
import type { EventSettings } from './as-event.js';
import type { Credential } from './read-request.js';

/** A program that may post, and the origins that it may post as. */
export interface Caller {
  name: string;
  /** In lower case. */
  origins: readonly string[];
  /** The headers that webhooks get beside those of the event, in lower case. */
  headers: ReadonlySet<string>;
  /** Undefined: it sends events. */
  event: EventSettings | undefined;
}

export type Network = (address: IpAddress) => boolean;

/** A caller of the settings. It has a secret, or networks and one origin, or both: then both hold. */
export interface CallerEntry extends Caller {
  /** SHA-256 of each secret. */
  secrets: readonly Buffer[];
  /** Empty: any. */
  networks: readonly Network[];
}

export interface CallersSettings {
  entries: readonly CallerEntry[];
  /** Verifies a token of an issuer: rejects with RegistryError. Undefined without issuers. */
  authenticate: ((authorization: string) => Principal | Promise<Principal>) | undefined;
  /** The claim that names the origins of a token. */
  originClaim: string;
  /** Tokens of other tenants are refused: their origins are not those of this process. */
  tenant: string;
}

/** Who posts, as far as the connection and the request tell. */
export interface Presented {
  credential: Credential | undefined;
  /** Of the socket. What a header says about addresses is never read. */
  remoteAddress: string | undefined;
  /** A web page can make the browser of a person in a network send a request. */
  isFromBrowser: boolean;
}

/**
 * Recognises callers. A credential decides alone: one that is wrong is refused even if the network of the request would
 * be accepted without it, so that a wrong secret is noticed, and never passed on to a webhook.
 */
export class Callers {
  readonly #settings: CallersSettings;
  readonly #withoutSecret: readonly CallerEntry[];

  constructor(settings: CallersSettings) {
    this.#settings = settings;
    this.#withoutSecret = settings.entries.filter(({ secrets }) => secrets.length === 0);
  }

  /** Whether more than one may exist. With an issuer, any number. */
  areSeveral(): boolean {
    const { entries, authenticate } = this.#settings;
    return authenticate !== undefined || new Set(entries.map(({ name }) => name)).size > 1;
  }

  /** RegistryError `unauthenticated`, `scope_missing`, or what `authenticate` rejects with. */
  identify({ credential, remoteAddress, isFromBrowser }: Presented): Caller | Promise<Caller> {
    const address = addressOf(remoteAddress);
    const isWithin = ({ networks }: CallerEntry) =>
      networks.length === 0 || (address !== undefined && networks.some((network) => network(address)));
    if (credential === undefined) {
      const caller = isFromBrowser ? undefined : this.#withoutSecret.find(isWithin);
      if (caller === undefined) throw unknown('token_missing', 'No caller without a secret has this address.');
      return caller;
    }
    const known = this.#bySecret(credential.secret);
    if (known !== undefined && isWithin(known)) return known;
    const { authenticate } = this.#settings;
    if (known === undefined && credential.scheme === 'bearer' && isJwt(credential.secret) && authenticate) {
      const principal = authenticate(`Bearer ${credential.secret}`);
      return principal instanceof Promise ? principal.then((one) => this.#ofToken(one)) : this.#ofToken(principal);
    }
    throw unknown('token_malformed', 'No caller has this secret.');
  }

  /** Compares with every secret, so that the time says nothing about any of them. */
  #bySecret(secret: string): CallerEntry | undefined {
    const digest = digestOf(secret);
    let found: CallerEntry | undefined;
    for (const entry of this.#settings.entries) {
      for (const one of entry.secrets) if (timingSafeEqual(one, digest)) found = entry;
    }
    return found;
  }

  #ofToken({ tenant, client, scopes, claims }: Principal): Caller {
    const { originClaim } = this.#settings;
    if (!scopes.has('assent:deliver')) {
      throw new RegistryError('scope_missing', 'The token lacks the scope assent:deliver.');
    }
    if (tenant !== this.#settings.tenant) {
      throw new RegistryError('scope_missing', 'The token is of another tenant than this process (--tenant).');
    }
    const claim = claims?.()[originClaim];
    const origins = [claim].flat().flatMap((each) => (typeof each === 'string' ? [each.toLowerCase()] : []));
    if (origins.length === 0) {
      throw new RegistryError('scope_missing', `The token has no claim ${originClaim} with the origins of its client.`);
    }
    return { name: client, origins, headers: none, event: undefined };
  }
}

const none: ReadonlySet<string> = new Set();

export const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

const isJwt = (text: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text);

/** IPv4 as such, even on a socket that accepts both. */
function addressOf(remote: string | undefined): IpAddress | undefined {
  return remote === undefined ? undefined : parseIp(remote.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, ''));
}

function unknown(rule: FaultRule, why: string): RegistryError {
  const detail = `This process accepts known callers only. ${why}`;
  return new RegistryError('unauthenticated', detail, {
    faults: [{ pointer: 'header/authorization', rule, detail: why }],
  });
}
