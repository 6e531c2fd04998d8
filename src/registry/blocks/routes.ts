import type { Context } from '../context.js';
import { RegistryError, type Fault } from '../../base/errors.js';
import type { components } from '../../base/contract/contract.gen.js';
import { actorOf, idempotent, replayHeader, type OperationRequest, type Handlers } from '../http/handler.js';
import { pageHeaders, readListCursor } from '../http/page.js';
import type { Principal } from '../../base/contract/principal.js';
import { timeOf } from '../../base/formats/timestamp.js';
import { isUuid } from '../../base/files/ids.js';
import { parseBlockValue, type Block } from './block.js';
import type { Announcement } from './announcements.js';
import type { BlockEffect } from './effect.js';
import { createBlockStore, type BlockScope, type NewBlock } from './store.js';

type BlockOperation = 'listBlocks' | 'createBlock' | 'getBlock' | 'liftBlock';

export function routes({ database, now }: Context): Handlers<BlockOperation> {
  const blocks = createBlockStore(database);
  return {
    listBlocks: async ({ query, principal, address }) => {
      const { kind, value, cursor, limit = 50 } = query;
      const after = readListCursor(cursor, address, isUuid);
      const page = await blocks.list(scopeOf(principal), { kind, value, after, limit });
      return {
        status: 200,
        headers: pageHeaders(address, query, page.next),
        body: page.entries.map((block) => present(block)),
      };
    },

    createBlock: async (call) => {
      const block = requested(call, now());
      if (call.query.dryrun === true) {
        const { tenant, kind, value, reason, endsAt } = block;
        const expiresat = endsAt?.toISOString();
        const body = { tenant, kind, value, reason, effect: await blocks.effectOf(block) };
        return { status: 200, body: { ...body, expiresat } };
      }
      const request = idempotent(call, 'createBlock', call.body);
      const { block: created, isNew, replayed } = await blocks.create(actorOf(call), block, request);
      // The block is in force, even if counting what it stops fails.
      const effect = await blocks.effectOf(created).catch(() => undefined);
      const begun = { isFinished: false, subscriptionCount: 0 };
      const announcement = isNew && !replayed ? begun : await blocks.announcement(created).catch(() => undefined);
      const headers = { Location: `${call.address}/${created.id}`, ...replayHeader(replayed) };
      const body = present(created, { effect, announcement });
      return isNew ? { status: 201, headers, body } : { status: 200, headers, body };
    },

    getBlock: async ({ path, principal }) => {
      const block = await blocks.read(scopeOf(principal), path.id);
      const [effect, announcement] = await Promise.all([blocks.effectOf(block), blocks.announcement(block)]);
      return { status: 200, body: present(block, { effect, announcement }) };
    },

    liftBlock: async (call) => {
      const { principal } = call;
      const block = await blocks.lift(actorOf(call), scopeOf(principal), call.path.id, ({ byOperator }) => {
        if (byOperator && !isOperator(principal)) throw operatorOnly();
      });
      return { status: 200, body: present(block) };
    },
  };
}

const isOperator = ({ scopes }: Principal) => scopes.has('assent:block');

/** Operators see the blocks of the tenants that their issuer may name, admins those of their own. */
function scopeOf(principal: Principal): BlockScope {
  return isOperator(principal) ? principal.tenants : [principal.tenant];
}

function requested({ body, principal }: OperationRequest<'createBlock'>, now: number): NewBlock {
  const { kind, reason } = body;
  const faults: Fault[] = [];
  const tenant = body.tenant ?? (kind === 'tenant' ? body.value : undefined) ?? principal.tenant;
  const isOwn = tenant === principal.tenant && principal.scopes.has('assent:admin');
  if (!isOwn && !mayBlock(principal, tenant)) throw operatorOnly();
  if (kind === 'tenant' && body.tenant !== undefined && body.value !== body.tenant) {
    faults.push({ pointer: '/value', rule: 'value_not_allowed', detail: 'The value of this kind is the tenant.' });
  }
  const parsed = parseBlockValue(kind, body.value);
  if ('rule' in parsed) faults.push({ pointer: '/value', ...parsed });
  const end = body.expiresat === undefined ? undefined : timeOf(body.expiresat);
  if (end !== undefined && !(end.getTime() > now)) {
    faults.push({ pointer: '/expiresat', rule: 'time_out_of_range', detail: 'The end must be in the future.' });
  }
  if (faults.length > 0) throw new RegistryError('invalid_request', 'The block is invalid.', { faults });
  const value = 'value' in parsed ? parsed.value : body.value;
  return { tenant, kind, value, reason, endsAt: end, byOperator: !isOwn };
}

/** An operator whose issuer may name only some tenants does not block for all. */
function mayBlock(principal: Principal, tenant: string): boolean {
  if (!isOperator(principal)) return false;
  return principal.tenants === undefined || principal.tenants.includes(tenant);
}

function operatorOnly(): RegistryError {
  return new RegistryError(
    'scope_missing',
    'This needs the scope assent:block, and an issuer that may name the tenant.',
  );
}

function present(
  block: Block,
  { effect, announcement }: { effect?: BlockEffect | undefined; announcement?: Announcement | undefined } = {},
): components['schemas']['Block'] {
  return {
    id: block.id,
    tenant: block.tenant,
    kind: block.kind,
    value: block.value,
    reason: block.reason,
    createdat: block.createdAt.toISOString(),
    createdby: block.createdBy,
    ...(block.createdByPerson && { createdbyperson: block.createdByPerson }),
    byoperator: block.byOperator,
    expiresat: block.endsAt?.toISOString(),
    effect,
    ...(announcement && {
      announcement: {
        state: announcement.isFinished ? 'finished' : 'running',
        subscriptioncount: announcement.subscriptionCount,
      },
    }),
  };
}
