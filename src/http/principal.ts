/**
 * What a token may do: subscribers manage their own subscriptions, admins everything in their tenant, and delivery
 * systems read the grants, matches and feed of their tenant, with sink credentials if they hold that scope too, lease
 * its rates and report deliveries.
 */
export const scopes = ['assent:subscribe', 'assent:admin', 'assent:deliver', 'assent:credentials'] as const;

export type Scope = (typeof scopes)[number];

/** Whom a verified token speaks for. */
export interface Principal {
  tenant: string;
  subscriber: string;
  scopes: ReadonlySet<Scope>;
  /** Milliseconds since 1970. After it the same token is refused, so nothing longer may be promised on its strength. */
  tokenExpiresAt: number;
}

/** For whom an operation without a token is done. */
export const nobody: Principal = { tenant: '', subscriber: '', scopes: new Set(), tokenExpiresAt: 0 };
