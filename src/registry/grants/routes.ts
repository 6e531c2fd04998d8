import type { Context } from '../context.js';
import { askedAddressOf, blockedError, findBlocks } from '../blocks/find-blocks.js';
import { RegistryError, type Fault } from '../../base/errors.js';
import type { components } from '../../base/contract/contract.gen.js';
import type { Principal } from '../../base/contract/principal.js';
import { requireConditions, versionTag } from '../http/entity-tag.js';
import { actorOf, idempotent, replayHeader, type OperationRequest, type Handlers } from '../http/handler.js';
import { foundHeaders, readListCursor } from '../http/page.js';
import { timeOf } from '../../base/formats/timestamp.js';
import { findOrigin } from '../origins/store.js';
import { claimKey } from '../storage/idempotency.js';
import type { Transaction } from '../storage/database.js';
import { Prisma } from '../storage/generated/client.js';
import { recordsetOfPairs } from '../storage/rows.js';
import { isPlace } from '../storage/search.js';
import { grantTexts } from '../../base/texts/grants.js';
import type { Language } from '../../base/texts/text.js';
import { tokenTexts } from '../../base/texts/tokens.js';
import { keyOfPair } from '../../consent/grant.js';
import { presentMistakes } from '../../consent/verdicts.js';
import { grantMembers } from './columns.js';
import { createGrantTokens, grantTokenMediaType } from './grant-token.js';
import { permissionRoutes } from './permission-routes.js';
import { createGrantReader, findGrant, findGrantOf, lockGrant, type PresentGrant } from './read.js';
import { putGrant, releaseGrant, revokeGrant } from './write.js';

type GrantOperation =
  'listGrants' | 'createGrant' | 'getGrant' | 'revokeGrant' | 'releaseGrant' | 'getPermission' | 'checkPermissions';

const longestAgreementMs = 5 * 366 * 86_400_000;

export function routes(context: Context): Handlers<GrantOperation> {
  const { database, cascades } = context;
  const grants = createGrantReader(database, context.now);
  const grantTokens = createGrantTokens(context);

  return {
    ...permissionRoutes(context),

    listGrants: async ({ query, principal, address, language }) => {
      const { cursor, limit = 50, origin, host, expiressince, expiresuntil, ...where } = query;
      // Senders don't see who subscribes.
      if (where.subscriber !== undefined && !principal.scopes.has('assent:admin')) {
        throw new RegistryError('scope_missing', tokenTexts.scope([['assent:admin']]));
      }
      const page = await grants.list({
        ...where,
        origin: origin?.toLowerCase(),
        host: host?.toLowerCase(),
        expiressince: expiressince === undefined ? undefined : timeOf(expiressince),
        expiresuntil: expiresuntil === undefined ? undefined : timeOf(expiresuntil),
        tenant: principal.tenant,
        after: readListCursor(cursor, address, isPlace(where.sort), where.sort),
        limit,
      });
      return {
        status: 200,
        headers: foundHeaders(address, query, page),
        body: page.entries.map((grant) => present(grant, principal, language)),
      };
    },

    getGrant: async (call) => {
      const grant = await grants.read(call.principal.tenant, call.path.id);
      const vary = { Vary: 'Accept' };
      if (call.preferred('application/json', grantTokenMediaType) !== grantTokenMediaType) {
        const { headers, ...read } = answer(grant, call);
        return { ...read, headers: { ...headers, ...vary } };
      }
      const text = await grantTokens.tokenOf(grant);
      return { status: 200, headers: vary, mediaType: grantTokenMediaType, text };
    },

    createGrant: async (call) => {
      const { id, replayed } = await database.write((tx) => recordAgreement(tx, call, context));
      const grant = await grants.read(call.principal.tenant, id);
      return {
        status: 201,
        headers: {
          Location: `${call.address}/${grant.id}`,
          ETag: versionTag(grant.version),
          ...replayHeader(replayed),
        },
        body: present(grant, call.principal, call.language),
      };
    },

    revokeGrant: async (call) => {
      const actor = actorOf(call);
      const { id } = call.path;
      const request = idempotent(call, 'revokeGrant', [id, call.body]);
      const replayed = await database.write(async (tx) => {
        const { sql } = tx;
        const pair = await findGrant(sql, actor.tenant, id);
        if ((await claimKey(sql, request, id)) !== undefined) return true;
        // Handshakes before the grant: all transactions lock in this order.
        await cascades.closeHandshakes(sql, pair);
        const grant = await lockGrant(sql, actor.tenant, id);
        requireConditions(call.header, grant.version);
        await revokeGrant(tx, actor, pair, call.body.reason);
        return false;
      });
      return answer(await grants.read(actor.tenant, id), call, replayed);
    },

    releaseGrant: async (call) => {
      const actor = actorOf(call);
      const { id } = call.path;
      const request = idempotent(call, 'releaseGrant', id);
      const replayed = await database.write(async (tx) => {
        const { sql } = tx;
        await findGrant(sql, actor.tenant, id);
        if ((await claimKey(sql, request, id)) !== undefined) return true;
        const grant = await lockGrant(sql, actor.tenant, id);
        requireConditions(call.header, grant.version);
        await releaseGrant(tx, actor, grant);
        return false;
      });
      return answer(await grants.read(actor.tenant, id), call, replayed);
    },
  };
}

/** An admin's decision. It replaces any grant, even a revoked one. */
async function recordAgreement(
  tx: Transaction,
  call: OperationRequest<'createGrant'>,
  context: Context,
): Promise<{ id: string; replayed: boolean }> {
  const { sql } = tx;
  const { tenant } = call.principal;
  const { sink, allowedrate, agreement, expiresat } = call.body;
  const origin = call.body.origin.toLowerCase();
  // No grant may outlive its origin: another tenant may register the name.
  await sql.$queryRaw`select 1 from origin where name = ${origin} and tenant = ${tenant} for key share`;
  const [block] = await findBlocks(sql, [{ tenant, origin, sink }]);
  if (block !== undefined) throw blockedError(block);
  await findOrigin(sql, tenant, origin);
  const earlier = await claimKey(sql, idempotent(call, 'createGrant', call.body), keyOfPair({ origin, sink }));
  const recorded = earlier === undefined ? undefined : await findGrantOf(sql, { origin, sink });
  if (recorded !== undefined) return { id: recorded.id, replayed: true };
  const until = timeOf(expiresat);
  // Not earlier: a repeated request returns what it recorded, even if that has ended since.
  checkAgreement(sink, until, context);
  // A handshake that started during the revocation may still be open.
  if ((await findGrantOf(sql, { origin, sink }))?.state === 'revoked')
    await context.cascades.closeHandshakes(sql, { tenant, origin, sink });
  const pair = recordsetOfPairs([{ tenant, origin, sink }]);
  const [asked] = await sql.$queryRaw<Array<{ address: string | null }>>`
    select ${askedAddressOf(Prisma.sql`agreed`)} as address from ${pair} agreed`;
  const grant = await putGrant(tx, actorOf(call), {
    tenant,
    origin,
    sink,
    address: asked?.address ?? undefined,
    basis: 'agreement',
    allowedOrigin: undefined,
    allowedRate: allowedrate,
    requestedRate: undefined,
    tolerated: [],
    handshake: undefined,
    agreement,
    lifetime: { until },
    jitter: 0,
  });
  if (!grant) throw new Error('An agreement replaces every grant.');
  return { id: grant.id, replayed: false };
}

function checkAgreement(sink: string, until: Date, { faultOfSink, now }: Context): void {
  const fault = faultOfSink(sink);
  const fromNowMs = until.getTime() - now();
  const faults: Fault[] = fault ? [{ pointer: '/sink', ...fault }] : [];
  if (fromNowMs <= 0 || fromNowMs > longestAgreementMs) {
    faults.push({ pointer: '/expiresat', rule: 'time_out_of_range', detail: grantTexts.expiryOutOfRange });
  }
  if (faults.length > 0) throw new RegistryError('invalid_request', grantTexts.invalidAgreement, { faults });
}

function answer(
  grant: PresentGrant,
  { principal, language }: { principal: Principal; language: Language },
  replayed = false,
) {
  const headers = { ETag: versionTag(grant.version), ...replayHeader(replayed) };
  return { status: 200 as const, headers, body: present(grant, principal, language) };
}

/** Senders don't see which persons decided. */
export function present(
  grant: PresentGrant,
  { scopes }: Principal,
  language: Language,
): components['schemas']['Grant'] {
  const { tenant: _, version: __, recordedbyperson, endedbyperson, ...stored } = grantMembers.present(grant);
  const members = { ...stored, tolerated: presentMistakes(grant.tolerated, language) };
  if (!scopes.has('assent:admin')) return members;
  return { ...members, ...(recordedbyperson && { recordedbyperson }), ...(endedbyperson && { endedbyperson }) };
}
