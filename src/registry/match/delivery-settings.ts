import { RegistryError } from '../../base/errors.js';
import { denials } from '../../consent/decision.js';
import { textOfPair } from '../../matching/match/match-message.js';
import { indexLoading } from '../../matching/replica/replica.js';
import type { Context } from '../context.js';
import { checkPair } from '../grants/permission-routes.js';
import { ageHeader, type Handler, type OperationRequest, type OperationResponse } from '../http/handler.js';
import type { ReadSecrets } from '../subscriptions/read-secrets.js';
import { secretUnavailable } from '../storage/vault.js';
import { hasSecrets, secretsIn, seesSecrets, whenReached } from './match-event.js';

type Call = OperationRequest<'getDeliverySettings'>;

/** `GET /v1/deliveries/settings`: what a match returns for a sink, for senders that have no event to match. */
export function createDeliverySettings(
  { follower, freshness }: Pick<Context, 'follower' | 'freshness'>,
  secrets: ReadSecrets,
): Handler<'getDeliverySettings'> {
  async function answer({ principal, query }: Call): Promise<OperationResponse<'getDeliverySettings'>> {
    const replica = follower.replica();
    if (replica === undefined) throw indexLoading();
    const pair = { origin: query.origin.toLowerCase(), sink: query.sink };
    const { denial, grant } = replica.permission(principal.tenant, pair.origin, pair.sink);
    // Checked only if there is no grant, as for a permission.
    if (grant === undefined) checkPair(pair);
    const origin = replica.origin(principal.tenant, pair.origin);
    const found = replica.sinkOf(principal.tenant, pair.origin, pair.sink);
    if (origin === undefined || found === undefined || (denial !== undefined && denial !== 'held')) {
      const rule = denial ?? 'no_grant';
      const detail = denials[rule];
      throw new RegistryError('not_permitted', detail, { faults: [{ pointer: 'query/sink', rule, detail }] });
    }
    const { matched } = found;
    // Read before waiting, because the log continues meanwhile.
    const revision = String(follower.position());
    const secretsOf =
      hasSecrets(matched) && seesSecrets(principal) ? await secretsIn(secrets, origin, [matched]) : undefined;
    if (secretsOf?.(matched) === 'unreadable') throw secretUnavailable();
    const json = textOfPair(revision, origin, matched, secretsOf);
    return { status: 200, headers: ageHeader(freshness.age()), json };
  }

  return async (call) => {
    await whenReached(follower, call.query.minRevision);
    return answer(call);
  };
}
