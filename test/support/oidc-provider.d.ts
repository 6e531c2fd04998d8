/** What the tests use of it; it has no types of its own. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';

  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
    on(event: 'grant.success', listener: (context: { oidc: { params?: Record<string, unknown> } }) => void): this;
    on(event: 'grant.error', listener: (context: object, error: Error & { error_description?: string }) => void): this;
  }
}
