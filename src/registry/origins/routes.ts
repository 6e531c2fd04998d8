import type { Context } from '../context.js';
import { RegistryError, type Fault } from '../../base/errors.js';
import { mergePatch } from '../http/body.js';
import type { components } from '../../base/contract/contract.gen.js';
import { requireConditions, versionTag } from '../http/entity-tag.js';
import { actorOf, idempotent, replayHeader, type OperationRequest, type Handlers } from '../http/handler.js';
import { pageHeaders, readListCursor } from '../http/page.js';
import { parseOriginName, type Origin, type OriginPolicy } from '../../consent/origin.js';
import { keyidsByOrigin } from './check-proof.js';
import { findCertificates } from './client-certificate.js';
import { policyMembers } from './columns.js';
import { codeOf, directoryOf, explainFindings, recordOf } from './domain-proof.js';
import { nameTexts } from '../../base/texts/origins.js';
import type { IdempotentRequest } from '../storage/idempotency.js';
import { keyRoutes } from './key-routes.js';
import { createOriginStore, type Created, type NewOrigin } from './store.js';
import { checkSubscriptionRules } from './subscription-rule.js';

type Settings = components['schemas']['OriginSettings'];
type OriginOperation =
  'listOrigins' | 'createOrigin' | 'getOrigin' | 'replaceOrigin' | 'updateOrigin' | 'deleteOrigin' | 'verifyOrigin';

export function routes(context: Context): ReturnType<typeof keyRoutes> & Handlers<OriginOperation> {
  const { config, contract, database, cascades, proofs, vault } = context;
  const origins = createOriginStore({
    database,
    vault,
    removeDependents: cascades.removeGrants,
    removeSubscriptions: cascades.removeSubscriptions,
    mustVerify: config.requireVerifiedOrigins,
  });
  const nameOf = (call: { path: { name: string } }) => call.path.name.toLowerCase();

  return {
    ...keyRoutes(context),
    listOrigins: async (call) => {
      const { query, principal, address } = call;
      const after = readListCursor(query.cursor, address, (key) => parseOriginName(key).ok);
      const page = await origins.list(principal.tenant, { after, limit: query.limit ?? 50, notices: query.notices });
      return {
        status: 200,
        headers: pageHeaders(address, query, page.next),
        body: await presentAll(call, page.entries),
      };
    },

    createOrigin: async (call) => {
      const name = parseOriginName(call.body.name);
      const faults = checkSubscriptionRules(call.body.subscriptionrules, '/subscriptionrules');
      if (!name.ok) throw invalid([{ pointer: '/name', rule: name.rule, detail: name.detail }, ...faults]);
      if (faults.length > 0) throw invalid(faults);
      const policyFor = (isFirst: boolean) => policyOf({ ...call.body, isdefault: call.body.isdefault ?? isFirst });
      const asked = { name: name.name, policyFor };
      const request = idempotent(call, 'createOrigin', call.body);
      const { origin, replayed } = await origins
        .create(actorOf(call), asked, request)
        .catch((error: unknown) => claim(call, asked, request, error));
      return {
        status: 201,
        headers: {
          Location: `${call.address}/${origin.name}`,
          ETag: versionTag(origin.version),
          ...replayHeader(replayed),
        },
        body: await presentOne(call, origin),
      };
    },

    getOrigin: async (call) => answer(call, await origins.read(call.principal.tenant, nameOf(call))),

    replaceOrigin: async (call) => answer(call, await replace(call, () => call.body)),

    updateOrigin: async (call) =>
      answer(
        call,
        await replace(call, (origin) => {
          const merged = mergePatch(settingsOf(origin), call.body) as Settings;
          const faults = contract.operationOf('replaceOrigin').checkBody(merged);
          if (faults.length > 0) throw invalid(faults);
          return merged;
        }),
      ),

    deleteOrigin: async (call) =>
      answer(
        call,
        await origins.remove(actorOf(call), nameOf(call), (origin) => requireConditions(call.header, origin.version)),
      ),

    verifyOrigin: async (call) => answer(call, await proofs.check(actorOf(call), nameOf(call), call.signal)),
  };

  /** Who proves that an unverified name is its own gets it. `error` is that of creating the origin. */
  async function claim(
    call: OperationRequest<'createOrigin'>,
    asked: NewOrigin,
    request: IdempotentRequest,
    error: unknown,
  ): Promise<Created> {
    if (!(error instanceof RegistryError && error.code === 'origin_exists')) throw error;
    const { name } = asked;
    const { tenant } = call.principal;
    const holder = await origins.holderOf(name);
    if (holder === undefined || holder.tenant === tenant || holder.verifiedBy !== undefined) throw error;
    const claimed = await proofs.lookForClaim(tenant, name, call.signal);
    if (claimed.kind === 'proved') return origins.take(actorOf(call), asked, holder, claimed, request);
    const detail = nameTexts.unproved(name, claimed.record);
    throw new RegistryError('origin_exists', detail, { faults: [{ pointer: '/name', rule: 'origin_exists', detail }] });
  }

  async function answer(call: Asking, origin: Origin) {
    const headers = { ETag: versionTag(origin.version) };
    return { status: 200 as const, headers, body: await presentOne(call, origin) };
  }

  async function presentOne(call: Asking, origin: Origin) {
    const [body] = await presentAll(call, [origin]);
    return body as components['schemas']['Origin'];
  }

  async function presentAll(call: Asking, page: readonly Origin[]) {
    const names = page.map(({ name }) => name);
    const [keyids, certificates] = await Promise.all([
      keyidsByOrigin(database.sql, names),
      findCertificates(database.sql, names),
    ]);
    return page.map((origin) => ({
      ...presentTo(call, origin, keyids.get(origin.name)?.[0]),
      clientcertificate: certificates.get(origin.name),
    }));
  }

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

type Asking = Pick<OperationRequest<OriginOperation>, 'principal' | 'language'>;

/** Rules name other clients, and what a check found is for who can repair it, so only admins see them. */
function presentTo(
  { principal: { scopes }, language }: Asking,
  origin: Origin,
  keyid: string | undefined,
): components['schemas']['Origin'] {
  const isAdmin = scopes.has('assent:admin');
  const { subscriptionrules: rules, createdat, updatedat, ...settings } = settingsOf(origin);
  const { name, verifiedBy, findings } = origin;
  const found =
    isAdmin && findings ? { code: codeOf(findings), detail: explainFindings(name, findings, keyid)[language] } : {};
  return {
    ...settings,
    ...(isAdmin && rules !== undefined && { subscriptionrules: rules }),
    verification: {
      state: verifiedBy === undefined ? 'unverified' : findings === undefined ? 'verified' : 'failing',
      by: verifiedBy,
      keyid: origin.verifiedKey,
      verifiedat: origin.verifiedAt?.toISOString(),
      checkedat: origin.checkedAt?.toISOString(),
      ...found,
      record: keyid === undefined ? undefined : recordOf(name, keyid),
      directory: directoryOf(name),
    },
    ...(origin.mustVerify && { mustverify: true }),
    createdat,
    updatedat,
  };
}

function settingsOf(origin: Origin) {
  return {
    name: origin.name,
    ...policyMembers.present(origin),
    directory: origin.directory,
    createdat: origin.createdAt.toISOString(),
    updatedat: origin.updatedAt.toISOString(),
  };
}
