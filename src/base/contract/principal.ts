/**
 * What a token allows. Consumers manage their own subscriptions. Admins manage everything in their tenant. Senders read
 * the grants, matches and feed of their tenant, lease its rates and report deliveries; with the scope for credentials
 * they also read sink credentials, and with the one for signing the private keys of origins. Operators read the audit record of every tenant, or
 * block across tenants, and nothing else.
 */
export const scopes = [
  'assent:subscribe',
  'assent:admin',
  'assent:deliver',
  'assent:credentials',
  'assent:sign',
  'assent:audit',
  'assent:block',
] as const;

export type Scope = (typeof scopes)[number];

/** Who signed in, as the issuer knows them. Stored with what they change, and shown. */
export interface Person {
  id: string;
  /** For show: it may change, and is not unique. */
  name?: string;
}

/** Whom a verified token identifies. */
export interface Principal {
  tenant: string;
  /** The owner of what is registered, such as a team. */
  subscriber: string;
  /** The program that acts. */
  client: string;
  /** Of the token; absent for an operation without one. */
  issuer?: string | undefined;
  /** Who acts through it; absent for a program that acts alone. */
  person?: Person;
  scopes: ReadonlySet<Scope>;
  /** The tenants that its issuer may name; undefined if it may name any. No scope reaches beyond them. */
  tenants?: readonly string[] | undefined;
  /** Milliseconds since 1970. The token is refused after that, so no response based on it may last longer. */
  tokenExpiresAt: number;
  /**
   * The claims of the verified token. They are decoded on each call: few requests need them, and the cache of tokens has
   * the token already, as its key.
   */
  claims?: (() => Claims) | undefined;
}

export type Claims = Readonly<Record<string, unknown>>;

/** The caller of an operation without a token. */
export const nobody: Principal = { tenant: '', subscriber: '', client: '', scopes: new Set(), tokenExpiresAt: 0 };
