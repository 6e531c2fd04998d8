import type { Context } from '../context.js';
import { RegistryError, type Fault } from '../../base/errors.js';
import { mergePatch } from '../http/body.js';
import type { components } from '../../base/contract/contract.gen.js';
import { requireConditions, versionTag } from '../http/entity-tag.js';
import { actorOf, idempotent, replayHeader, type OperationRequest, type Handlers } from '../http/handler.js';
import { pageHeaders, readListCursor } from '../http/page.js';
import type { Principal } from '../../base/contract/principal.js';
import { parseOriginName, type Origin, type OriginPolicy } from '../../consent/origin.js';
import { policyMembers } from './columns.js';
import { keyRoutes } from './key-routes.js';
import { createOriginStore } from './store.js';
import { checkSubscriptionRules } from './subscription-rule.js';

type Settings = components['schemas']['OriginSettings'];
type OriginOperation = 'listOrigins' | 'createOrigin' | 'getOrigin' | 'replaceOrigin' | 'updateOrigin' | 'deleteOrigin';

export function routes(context: Context): ReturnType<typeof keyRoutes> & Handlers<OriginOperation> {
  const { contract, database, cascades, vault } = context;
  const origins = createOriginStore({ database, vault, removeDependents: cascades.removeGrants });
  const nameOf = (call: { path: { name: string } }) => call.path.name.toLowerCase();

  return {
    ...keyRoutes(context),
    listOrigins: async ({ query, principal, address }) => {
      const after = readListCursor(query.cursor, address, (key) => parseOriginName(key).ok);
      const page = await origins.list(principal.tenant, { after, limit: query.limit ?? 50, notices: query.notices });
      return {
        status: 200,
        headers: pageHeaders(address, query, page.next),
        body: page.entries.map((origin) => presentTo(principal, origin)),
      };
    },

    createOrigin: async (call) => {
      const name = parseOriginName(call.body.name);
      const faults = checkSubscriptionRules(call.body.subscriptionrules, '/subscriptionrules');
      if (!name.ok) throw invalid([{ pointer: '/name', rule: name.rule, detail: name.detail }, ...faults]);
      if (faults.length > 0) throw invalid(faults);
      const policyFor = (isFirst: boolean) => policyOf({ ...call.body, isdefault: call.body.isdefault ?? isFirst });
      const request = idempotent(call, 'createOrigin', call.body);
      const { origin, replayed } = await origins.create(actorOf(call), name.name, policyFor, request);
      return {
        status: 201,
        headers: {
          Location: `${call.address}/${origin.name}`,
          ETag: versionTag(origin.version),
          ...replayHeader(replayed),
        },
        body: present(origin),
      };
    },

    getOrigin: async (call) => {
      const origin = await origins.read(call.principal.tenant, nameOf(call));
      return { ...answer(origin), body: presentTo(call.principal, origin) };
    },

    replaceOrigin: async (call) => answer(await replace(call, () => call.body)),

    updateOrigin: async (call) =>
      answer(
        await replace(call, (origin) => {
          const merged = mergePatch(present(origin), call.body) as Settings;
          const faults = contract.operationOf('replaceOrigin').checkBody(merged);
          if (faults.length > 0) throw invalid(faults);
          return merged;
        }),
      ),

    deleteOrigin: async (call) =>
      answer(
        await origins.remove(actorOf(call), nameOf(call), (origin) => requireConditions(call.header, origin.version)),
      ),
  };

  function replace(
    call: OperationRequest<'replaceOrigin' | 'updateOrigin'>,
    settingsFor: (origin: Origin) => Settings,
  ) {
    return origins.replace(actorOf(call), nameOf(call), (origin) => {
      requireConditions(call.header, origin.version);
      const settings = settingsFor(origin);
      if (settings.name !== undefined && settings.name.toLowerCase() !== origin.name) {
        const detail = 'The name of an origin cannot change. Register another origin.';
        throw invalid([{ pointer: '/name', rule: 'name_changed', detail }]);
      }
      const faults = checkSubscriptionRules(settings.subscriptionrules, '/subscriptionrules');
      if (faults.length > 0) throw invalid(faults);
      return policyOf(settings);
    });
  }
}

function invalid(faults: Fault[]): RegistryError {
  return new RegistryError('invalid_request', 'The origin is invalid. The faults say where, and why.', { faults });
}

function policyOf(settings: Settings): OriginPolicy {
  return {
    description: settings.description,
    isDefault: settings.isdefault ?? false,
    requestedRate: settings.requestedrate,
    defaultRate: settings.defaultrate ?? 60,
    burst: settings.burst,
    judgement: settings.judgement ?? 'strict',
    callback: settings.callback ?? 'offer',
    signatures: settings.signatures ?? 'dictionary',
    unsupportedRate: settings.unsupportedrate,
    grantSeconds: settings.grantseconds ?? 864_000,
    profile: settings.profile ?? 'cloudevents',
    goneAfter: settings.goneafter ?? 1,
    notices: settings.notices ? true : undefined,
    subscriptionRules: settings.subscriptionrules,
  };
}

function answer(origin: Origin) {
  return { status: 200 as const, headers: { ETag: versionTag(origin.version) }, body: present(origin) };
}

/** Rules name other clients, so only admins see them. */
function presentTo({ scopes }: Principal, origin: Origin): components['schemas']['Origin'] {
  const { subscriptionrules: rules, ...rest } = present(origin);
  return rules !== undefined && scopes.has('assent:admin') ? { ...rest, subscriptionrules: rules } : rest;
}

function present(origin: Origin): components['schemas']['Origin'] {
  return {
    name: origin.name,
    ...policyMembers.present(origin),
    directory: origin.directory,
    createdat: origin.createdAt.toISOString(),
    updatedat: origin.updatedAt.toISOString(),
  };
}
