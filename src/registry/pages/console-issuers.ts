import { z } from 'zod';
import type { TrustedRoute } from '../../outbound/trusted-route.js';
import { fetchJson } from '../tokens/fetch-json.js';

/** An issuer that the console signs in with: authorization code with PKCE (RFC 7636). */
interface ConsoleIssuerSettings {
  issuer: string;
  clientid: string;
  scope: string;
}

/** With what the browser needs of the metadata of the issuer (RFC 8414, section 2). */
export interface ConsoleIssuer extends ConsoleIssuerSettings {
  authorization_endpoint: string;
  token_endpoint: string;
  authorization_response_iss_parameter_supported: boolean;
  id_token_signing_alg_values_supported?: string[] | undefined;
}

/**
 * The policy of the console names the origin of an endpoint, and the browser opens it. The parser of URLs takes hosts with
 * semicolons, commas, quotes and stars: they would end a directive, or allow more than one origin.
 */
const endpoint = z.url({ protocol: /^https?$/, hostname: /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\])$/ });

const metadata = z.object({
  issuer: z.string(),
  authorization_endpoint: endpoint,
  token_endpoint: endpoint,
  authorization_response_iss_parameter_supported: z.boolean().default(false),
  id_token_signing_alg_values_supported: z.array(z.string()).optional(),
});

const keepMs = 600_000;
const retryAfterMs = 10_000;
const timeoutMs = 3_000;

/**
 * Reads the metadata of the issuers when the console is opened, and again after ten minutes. An issuer without readable
 * metadata is left out; the next attempt is ten seconds later, and until then the old metadata counts.
 */
export function createConsoleIssuers(
  issuers: readonly ConsoleIssuerSettings[],
  route: TrustedRoute,
  onOutage: (issuer: string, cause: unknown) => void,
): () => Promise<ConsoleIssuer[]> {
  let known = new Map<string, ConsoleIssuer>();
  let readAgainAt = -Infinity;
  let pending: Promise<void> | undefined;

  async function read() {
    let isComplete = true;
    const found = await Promise.all(
      issuers.map(async (settings): Promise<ConsoleIssuer | undefined> => {
        try {
          return { ...(await discover(settings.issuer, route)), ...settings };
        } catch (cause) {
          isComplete = false;
          onOutage(settings.issuer, cause);
          return known.get(settings.issuer);
        }
      }),
    );
    known = new Map(found.flatMap((each) => (each === undefined ? [] : [[each.issuer, each]])));
    readAgainAt = performance.now() + (isComplete ? keepMs : retryAfterMs);
  }

  return async () => {
    if (issuers.length === 0) return [];
    if (performance.now() >= readAgainAt) await (pending ??= read().finally(() => (pending = undefined)));
    return [...known.values()];
  };
}

/** OpenID Connect Discovery 1.0, section 4, then RFC 8414, section 3.1. */
async function discover(issuer: string, route: TrustedRoute) {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const openid = `${origin}${path}/.well-known/openid-configuration`;
  const fetching = { timeoutMs, accept: 'application/json', route };
  const found = metadata.parse(
    await fetchJson(openid, fetching).catch(() =>
      fetchJson(`${origin}/.well-known/oauth-authorization-server${path}`, fetching),
    ),
  );
  if (found.issuer !== issuer) throw new Error(`The metadata is of another issuer: ${found.issuer}.`);
  return found;
}
