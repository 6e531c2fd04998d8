import type { Change } from '../../../kits/client/index.js';
import type { Affected, Subcommand } from './operation.js';

const sinkOf = ({ origin, sink }: Change): Affected =>
  origin === undefined || sink === undefined ? undefined : { query: { origin, sink } };
/** A block may concern every row. */
const isBlock = ({ kind }: Change) => kind.startsWith('block.');
const runs = () => import('./runs.js');

/** The resources of the API, and what can be done with each. Their options and helps come from the contract. */
export const resources: Readonly<Record<string, { summary: string; subcommands: Record<string, Subcommand> }>> = {
  subscriptions: {
    summary: 'Registers webhooks for events, and shows their status.',
    subcommands: {
      list: {
        operation: 'listSubscriptions',
        columns: ['id', 'status', 'statusdetails.code', 'origin', 'sink', 'subscriber'],
        affected: (change) =>
          isBlock(change)
            ? { query: {} }
            : change.kind.startsWith('subscription.') && change.subscription !== undefined
              ? { id: change.subscription }
              : sinkOf(change),
      },
      get: { operation: 'getSubscription' },
      create: { operation: 'createSubscription', sets: { protocol: 'HTTP' } },
      update: { operation: 'updateSubscription' },
      delete: { operation: 'deleteSubscription', done: ({ id }) => `Deleted subscription ${String(id)}.` },
      suspend: { operation: 'suspendSubscription' },
      resume: { operation: 'resumeSubscription' },
      handshakes: {
        operation: 'listSubscriptionHandshakes',
        columns: ['id', 'state', 'verdict', 'trigger', 'attempts.length', 'createdat'],
      },
      ask: { operation: 'askWebhook' },
      wait: {
        operation: 'getSubscription',
        summary: 'Waits until the webhook has decided. Exit code 1 if the subscription is not active then.',
        options: { seconds: { type: 'string', value: 'N', help: 'At most this long. No limit if absent' } },
        run: async (context) => (await runs()).waitForDecision(context),
      },
    },
  },
  origins: {
    summary: 'Registers systems that send events, and sets their policy.',
    subcommands: {
      list: {
        operation: 'listOrigins',
        columns: ['name', 'description', 'isdefault', 'profile', 'requestedrate', 'grantseconds'],
        affected: ({ kind, origin }) =>
          kind.startsWith('origin.') && origin !== undefined ? { id: origin } : undefined,
      },
      get: { operation: 'getOrigin' },
      create: { operation: 'createOrigin' },
      update: { operation: 'updateOrigin' },
      delete: { operation: 'deleteOrigin', done: ({ name }) => `Deleted origin ${String(name)}.` },
    },
  },
  grants: {
    summary: 'Shows who may send where, records agreements, and revokes grants.',
    subcommands: {
      list: {
        operation: 'listGrants',
        columns: ['id', 'state', 'origin', 'sink', 'allowedrate', 'basis', 'expiresat'],
        affected: (change) =>
          isBlock(change) ? { query: {} } : change.kind.startsWith('grant.') ? sinkOf(change) : undefined,
      },
      get: { operation: 'getGrant' },
      agree: { operation: 'createGrant' },
      revoke: { operation: 'revokeGrant' },
      release: { operation: 'releaseGrant' },
    },
  },
  blocks: {
    summary: 'Stops an origin, a sink, a subscriber or a tenant, and lifts that again.',
    subcommands: {
      list: {
        operation: 'listBlocks',
        columns: ['id', 'kind', 'value', 'tenant', 'reason', 'expiresat'],
        affected: (change) => (isBlock(change) ? { query: {} } : undefined),
      },
      get: { operation: 'getBlock' },
      create: { operation: 'createBlock', operands: ['kind', 'value'] },
      lift: {
        operation: 'liftBlock',
        done: ({ id, kind, value }) => `Lifted block ${String(id)} (${String(kind)} ${String(value)}).`,
      },
    },
  },
  audit: {
    summary: 'Shows who changed what, and when.',
    subcommands: {
      list: {
        operation: 'listAuditRecords',
        columns: ['at', 'actor', 'action', 'target', 'details.reason', 'reference'],
        affected: () => ({ query: {} }),
        newestFirst: true,
      },
      export: {
        operation: 'listAuditRecords',
        summary: 'Writes every entry that matches to standard output.',
        options: {
          format: { type: 'string', value: 'NAME', choices: ['jsonl', 'csv'], default: 'jsonl', help: 'Its form' },
        },
        run: async (context) => (await runs()).exportAudit(context),
      },
    },
  },
};

/** `assent match`, which is one operation. */
export const match: Subcommand = {
  operation: 'matchEvent',
  summary: 'Finds the webhooks for the events in a file, or in standard input (-).',
  file: 'An event or a batch as JSON; - is standard input',
  run: async (context) => (await runs()).runMatch(context),
};
