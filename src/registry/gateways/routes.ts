import type { Context } from '../context.js';
import { RegistryError, type FaultRule } from '../../base/errors.js';
import { denials, rateUsedUp, type Decision } from '../../consent/decision.js';
import { pathOf } from '../../base/formats/uri.js';
import { ageHeader, type OperationResponse, type OperationRequest, type Handlers } from '../http/handler.js';
import { indexLoading } from '../../matching/replica/replica.js';
import { authzenRoutes, type AccessOperation } from './authzen-routes.js';
import { doubtOf, readDelivery, type GatewayDelivery, type Doubt } from './read-delivery.js';
import type { Shares } from './shares.js';

type Yes = OperationResponse<'authorizeDelivery'>;

const noQuery = {};
/** The query as configurations of gateways have it. It always fits the contract. */
const onlyHosts = /^hosts=([a-z0-9.:,-]{1,4096})$/;

/**
 * May the gateway let this delivery pass? A yes is 2xx, everything else is a no for every gateway. Envoy takes only 200
 * for a yes, and passes a 204 on to its client as if the delivery had arrived.
 */
export function routes(context: Context): Handlers<'authorizeDelivery' | AccessOperation> {
  const { config, contract, follower, freshness, shares } = context;
  const path = pathOf(config.publicUrl) + contract.operationOf('authorizeDelivery').path;

  function count(delivery: GatewayDelivery, tenant: string, rate: number, yes: Yes): Yes | Promise<Yes> {
    if (shares === undefined) {
      const detail = 'This process follows a replica of the database, and cannot lease.';
      throw new RegistryError('read_only', detail, { retryAfterSeconds: 5 });
    }
    const { origin, sink } = delivery;
    const settled = (taken: Awaited<ReturnType<Shares['take']>>) => {
      switch (taken.kind) {
        case 'taken':
        case 'unlimited':
          return yes;
        case 'denied':
          throw refusal('not_permitted', faultOf(taken.denial, denials[taken.denial]));
        case 'held':
          throw refusal('not_permitted', faultOf('held', denials.held), taken.retryAfterSeconds);
        case 'empty':
          throw refusal('rate_used_up', faultOf('rate_used_up', rateUsedUp(rate)), taken.retryAfterSeconds);
      }
    };
    const taken = shares.take({ tenant, origin, sink, rate });
    return taken instanceof Promise ? taken.then(settled) : settled(taken);
  }

  return {
    ...authzenRoutes(context),

    authorizeDelivery: (call) => {
      const below = call.address.slice(path.length);
      const delivery = deliveryOf(call, below);
      const known = follower.replica();
      if (known === undefined) throw indexLoading();
      const { tenant } = call.principal;
      const decision = known.permission(tenant, delivery.origin, delivery.sink);
      const { denial, grant } = decision;
      if (denial !== undefined || grant === undefined) throw denied(delivery, decision, known.now());
      const headers: Record<string, string> = {
        'Assent-Allowed-Rate': String(grant.allowedRate),
        'Assent-Expires-At': new Date(grant.expiresAt).toISOString(),
        ...ageHeader(freshness.age()),
      };
      const yes: Yes =
        below === ''
          ? { status: 204, headers, body: undefined }
          : { status: 200, headers: { ...headers, 'Content-Length': '0' }, body: undefined };
      return delivery.isCounted && grant.allowedRate !== '*' ? count(delivery, tenant, grant.allowedRate, yes) : yes;
    },
  };
}

/** Errors: `not_permitted` for a doubt; `invalid_request` for settings of a gateway that are wrong. */
function deliveryOf(call: OperationRequest<'authorizeDelivery'>, below: string): GatewayDelivery {
  const { queryText } = call;
  const hosts = onlyHosts.exec(queryText)?.[1];
  const query = hosts !== undefined ? { hosts } : queryText === '' ? noQuery : call.query;
  const read = readDelivery({ rawHeaders: call.rawHeaders, below, query });
  if ('rule' in read) throw refusal('not_permitted', read);
  return read;
}

function denied(delivery: GatewayDelivery, { denial = 'no_grant', grant }: Decision, now: number): RegistryError {
  // Checked only if there is no grant, so that pairs with a grant do not pay for it.
  const doubt = grant === undefined ? doubtOf(delivery) : undefined;
  const until = denial === 'held' ? grant?.heldUntil : undefined;
  const seconds = until === undefined ? undefined : (until - now) / 1_000;
  return refusal('not_permitted', doubt ?? faultOf(denial, denials[denial]), seconds);
}

const faultOf = (rule: FaultRule, detail: string): Doubt => ({ pointer: 'sink', rule, detail });

function refusal(code: 'not_permitted' | 'rate_used_up', fault: Doubt, seconds?: number): RegistryError {
  const { rule, detail } = fault;
  const wait = seconds === undefined ? {} : { retryAfterSeconds: Math.max(1, Math.ceil(seconds)) };
  return new RegistryError(code, detail, { faults: [fault], denial: rule, ...wait });
}
