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
        examples: [
          'assent subscriptions list --status refused',
          'assent subscriptions list --origin eventemitter.example.com --watch',
        ],
        columns: ['id', 'status', 'statusdetails.label', 'origin', 'sink', 'subscriber'],
        affected: (change) =>
          isBlock(change)
            ? { query: {} }
            : change.kind.startsWith('subscription.') && change.subscription !== undefined
              ? { id: change.subscription }
              : sinkOf(change),
      },
      get: {
        operation: 'getSubscription',
        examples: ['assent subscriptions get sub_01', 'assent subscriptions get sub_01 --json'],
      },
      create: {
        operation: 'createSubscription',
        sets: { protocol: 'HTTP' },
        examples: [
          'assent subscriptions create --sink https://hooks.example.org/events --type com.example.order.placed',
          'assent subscriptions create subscription.json --dry-run --ask',
        ],
      },
      update: {
        operation: 'updateSubscription',
        examples: [
          'assent subscriptions update sub_01 --make-signing-secret --overlap 3600',
          'assent subscriptions update sub_01 changes.json --ticket INC-1042',
        ],
      },
      delete: {
        operation: 'deleteSubscription',
        done: ({ id }) => `Deleted subscription ${String(id)}.`,
        examples: [
          'assent subscriptions delete sub_01',
          'assent subscriptions delete sub_01 --if-match 3 --ticket INC-1042',
        ],
      },
      suspend: {
        operation: 'suspendSubscription',
        examples: [
          "assent subscriptions suspend sub_01 --reason 'Maintenance until noon'",
          "assent subscriptions suspend sub_01 --reason 'Too many events' --ticket INC-1042",
        ],
      },
      resume: {
        operation: 'resumeSubscription',
        examples: [
          'assent subscriptions resume sub_01',
          "assent subscriptions resume sub_01 --reason 'Repaired' --wait 30",
        ],
      },
      handshakes: {
        operation: 'listSubscriptionHandshakes',
        examples: ['assent subscriptions handshakes sub_01', 'assent subscriptions handshakes sub_01 --limit 1 --json'],
        columns: ['id', 'state', 'verdict', 'trigger', 'attempts.length', 'createdat'],
      },
      ask: {
        operation: 'askWebhook',
        examples: ['assent subscriptions ask sub_01', 'assent subscriptions ask sub_01 --wait 30'],
      },
      wait: {
        operation: 'getSubscription',
        examples: ['assent subscriptions wait sub_01', 'assent subscriptions wait sub_01 --seconds 60'],
        summary: 'Waits until the webhook has decided.',
        notes: 'Exit code 1 if the subscription is not active then.',
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
        examples: ['assent origins list', 'assent origins list --wide --watch'],
        columns: ['name', 'description', 'isdefault', 'profile', 'requestedrate', 'grantseconds'],
        affected: ({ kind, origin }) =>
          kind.startsWith('origin.') && origin !== undefined ? { id: origin } : undefined,
      },
      get: {
        operation: 'getOrigin',
        examples: ['assent origins get eventemitter.example.com', 'assent origins get eventemitter.example.com --json'],
      },
      create: {
        operation: 'createOrigin',
        examples: [
          'assent origins create --name eventemitter.example.com --rate 120',
          'assent origins create origin.json --ticket CHG-7',
        ],
      },
      update: {
        operation: 'updateOrigin',
        examples: [
          'assent origins update eventemitter.example.com --judgement lenient',
          'assent origins update eventemitter.example.com --rate 60 --ticket CHG-7',
        ],
      },
      delete: {
        operation: 'deleteOrigin',
        done: ({ name }) => `Deleted origin ${String(name)}.`,
        examples: [
          'assent origins delete eventemitter.example.com',
          'assent origins delete eventemitter.example.com --ticket CHG-7',
        ],
      },
      verify: {
        operation: 'verifyOrigin',
        examples: [
          'assent origins verify eventemitter.example.com',
          'assent origins verify eventemitter.example.com --ticket CHG-7',
        ],
      },
      'set-certificate': {
        operation: 'replaceClientCertificate',
        examples: [
          'assent origins set-certificate eventemitter.example.com --certificate chain.pem --private-key key.pem',
          'assent origins set-certificate eventemitter.example.com --certificate chain.pem --private-key - < key.pem',
        ],
      },
      'remove-certificate': {
        operation: 'deleteClientCertificate',
        done: ({ fingerprint }) => `Removed client certificate ${String(fingerprint)}.`,
        examples: [
          'assent origins remove-certificate eventemitter.example.com',
          'assent origins remove-certificate eventemitter.example.com --ticket CHG-7',
        ],
      },
    },
  },
  keys: {
    summary: 'Makes, brings and revokes the keys that sign what an origin sends.',
    subcommands: {
      list: {
        operation: 'listOriginKeys',
        examples: ['assent keys list eventemitter.example.com', 'assent keys list eventemitter.example.com --json'],
        columns: ['id', 'kind', 'state', 'keyid', 'jwksuri', 'startsat', 'endsat'],
      },
      get: {
        operation: 'getOriginKey',
        examples: [
          'assent keys get eventemitter.example.com key_01',
          'assent keys get eventemitter.example.com key_01 --json',
        ],
      },
      make: {
        operation: 'createOriginKey',
        summary: 'Makes a key for an origin, to sign from its start.',
        omits: ['publickey', 'jwksuri'],
        examples: [
          'assent keys make eventemitter.example.com --overlap 3600',
          'assent keys make eventemitter.example.com --starts 2030-01-01T00:00:00Z --ticket CHG-7',
        ],
      },
      bring: {
        operation: 'createOriginKey',
        summary: 'Brings a public key, or a set of them, whose private parts you keep.',
        examples: [
          'assent keys bring eventemitter.example.com --public-key "$(cat key.public.json)"',
          'assent keys bring eventemitter.example.com --jwks-uri https://eventemitter.example.com/jwks.json',
        ],
      },
      revoke: {
        operation: 'revokeOriginKey',
        examples: [
          'assent keys revoke eventemitter.example.com key_01',
          'assent keys revoke eventemitter.example.com key_01 --ticket INC-1042',
        ],
      },
      directory: {
        operation: 'getOrigin',
        summary: 'Prints the public keys of an origin as the document that its own server can serve.',
        run: async (context) => (await runs()).printDirectory(context),
        examples: [
          'assent keys directory eventemitter.example.com',
          'assent keys directory eventemitter.example.com > http-message-signatures-directory',
        ],
      },
    },
  },
  grants: {
    summary: 'Shows who may send where, records agreements, and revokes grants.',
    subcommands: {
      list: {
        operation: 'listGrants',
        examples: ['assent grants list --state live', 'assent grants list --host hooks.example.org --sort expiresat'],
        columns: ['id', 'state', 'origin', 'sink', 'allowedrate', 'basis', 'expiresat'],
        affected: (change) =>
          isBlock(change) ? { query: {} } : change.kind.startsWith('grant.') ? sinkOf(change) : undefined,
      },
      get: {
        operation: 'getGrant',
        options: { jwt: { type: 'boolean', help: 'Print a signed token that proves the grant, instead of the grant' } },
        run: async (context) => (await runs()).showGrant(context),
        examples: ['assent grants get grt_01', 'assent grants get grt_01 --jwt'],
      },
      agree: {
        operation: 'createGrant',
        examples: [
          "assent grants agree --origin eventemitter.example.com --sink https://hooks.example.org/events --rate 120 --expires 2030-01-01T00:00:00Z --agreement 'Contract 7'",
          'assent grants agree grant.json --ticket CHG-7',
        ],
      },
      revoke: {
        operation: 'revokeGrant',
        examples: [
          "assent grants revoke grt_01 --reason 'The contract ended'",
          "assent grants revoke grt_01 --reason 'Wrong sink' --ticket INC-1042",
        ],
      },
      release: {
        operation: 'releaseGrant',
        examples: ['assent grants release grt_01', 'assent grants release grt_01 --ticket INC-1042'],
      },
    },
  },
  blocks: {
    summary: 'Stops an origin, a sink, a subscriber or a tenant, and lifts that again.',
    subcommands: {
      list: {
        operation: 'listBlocks',
        examples: ['assent blocks list', 'assent blocks list --kind origin --watch'],
        columns: ['id', 'kind', 'value', 'tenant', 'reason', 'expiresat'],
        affected: (change) => (isBlock(change) ? { query: {} } : undefined),
      },
      get: { operation: 'getBlock', examples: ['assent blocks get blk_01', 'assent blocks get blk_01 --json'] },
      create: {
        operation: 'createBlock',
        operands: ['kind', 'value'],
        examples: [
          "assent blocks create origin eventemitter.example.com --reason 'Sends personal data' --dry-run",
          "assent blocks create host hooks.example.org --reason 'Key leaked' --ticket INC-1042",
        ],
      },
      lift: {
        operation: 'liftBlock',
        examples: ['assent blocks lift blk_01', 'assent blocks lift blk_01 --ticket INC-1042'],
        done: ({ id, kind, value }) => `Lifted block ${String(id)} (${String(kind)} ${String(value)}).`,
      },
    },
  },
  audit: {
    summary: 'Shows who changed what, and when.',
    subcommands: {
      list: {
        operation: 'listAuditRecords',
        examples: [
          'assent audit list --since 2026-01-01T00:00:00Z',
          'assent audit list --target origin:eventemitter.example.com --all',
        ],
        columns: ['at', 'actor', 'action', 'target', 'details.reason', 'reference'],
        affected: () => ({ query: {} }),
        newestFirst: true,
      },
      export: {
        operation: 'listAuditRecords',
        examples: [
          'assent audit export --since 2026-01-01T00:00:00Z > audit.jsonl',
          'assent audit export --format csv > audit.csv',
        ],
        summary: 'Writes every audit record that matches to standard output.',
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
  summary: 'Finds the webhooks for events.',
  notes: 'Exit code 1 if an event of a batch is invalid.',
  file: 'An event or a batch as JSON; - is standard input',
  examples: ['assent match event.json', 'assent match - --origin eventemitter.example.com --explain < event.json'],
  run: async (context) => (await runs()).runMatch(context),
};
