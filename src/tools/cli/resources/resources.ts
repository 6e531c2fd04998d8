import { statuses } from '../../../consent/status.js';
import type { Change } from '../../../kits/client/index.js';
import type { Affected, Field, Fields, Resource } from './resource.js';
import { member } from './table.js';

const choice = (choices: readonly string[], help: string): Field => ({ choices, value: 'NAME', help });
const named = (value: string, help: string, more: Partial<Field> = {}): Field => ({ value, help, ...more });

const sinkSearch: Fields = {
  origin: named('NAME', 'Only those of this origin'),
  sink: named('URL', 'Only those with this sink'),
  host: named('NAME', 'Only those whose sink has this host'),
  'sink-contains': named('TEXT', 'Only those whose sink contains this'),
};
const reason: Fields = { reason: named('TEXT', 'Why. It is kept with the record') };
const sinkOf = ({ origin, sink }: Change): Affected => (sink === undefined ? undefined : { query: { origin, sink } });

const subscriptionMembers: Fields = {
  sink: named('URL', 'Where the events are sent'),
  origin: named('NAME', 'The system that sends'),
  type: named('TYPE', 'Only events of this type', { multiple: true, as: 'list', member: 'types' }),
  source: named('URI', 'Only events from this source'),
  subject: named('TEXT', 'Only events with this subject'),
  filter: named('JSON', 'Only events that match this filter', { multiple: true, as: 'json', member: 'filters' }),
  rate: named('N', 'Requests per minute to ask for', { as: 'number', member: 'requestedrate' }),
  callback: choice(['offer', 'never'], 'Whether to offer a callback URL'),
  expires: named('TIME', 'When the subscription ends', { member: 'expiresat' }),
};

const originMembers: Fields = {
  default: { help: 'The default origin', as: 'flag', member: 'isdefault' },
  rate: named('N', 'Requests per minute to ask for', { as: 'number', member: 'requestedrate' }),
  'default-rate': named('RATE', 'The rate if none is asked for or named', { as: 'rate' }),
  judgement: choice(['strict', 'lenient'], 'How strictly responses are read'),
  callback: choice(['offer', 'never'], 'Whether to offer a callback URL'),
  'unsupported-rate': named('N', 'The rate for webhooks that do not support the handshake', { as: 'number' }),
  'lease-seconds': named('N', 'The lifetime of a grant', { as: 'number' }),
  profile: choice(['cloudevents', 'nl-gov', 'intg-std-015', 'belgif'], 'The rules for its events'),
  'gone-after': named('N', 'How many 410 in a row retire a webhook', { as: 'number' }),
};

const auditSearch: Fields = {
  since: named('TIME', 'Only changes at this time or later'),
  until: named('TIME', 'Only changes before this time'),
  action: named('NAME', 'Only this action, or with a dot at the end all that start with it'),
  actor: named('NAME', 'Only changes by this actor'),
  target: named('KIND:ID', 'Only changes of this target'),
  subscriber: named('NAME', 'Only changes about the subscriptions of this client'),
  tenant: named('NAME', 'Only changes in this tenant'),
};

const handshakeColumns = [
  member('id'),
  member('state'),
  member('verdict'),
  member('reason'),
  { title: 'attempts', of: ({ attempts }: Record<string, unknown>) => (attempts as unknown[]).length },
  member('createdat', 'created'),
];

/** The resources of the API, and what can be done with each. The parser, the help and the completion come from here. */
export const resources: Record<string, Resource> = {
  subscriptions: {
    summary: 'Registers webhooks for events, and shows their status.',
    operations: {
      list: {
        summary: 'Lists subscriptions, oldest first.',
        method: 'get',
        path: '/subscriptions',
        query: {
          status: choice(statuses, 'Only those with this status'),
          reason: named('CODE', 'Only those with this reason'),
          ...sinkSearch,
          subscriber: named('NAME', 'Only those of this client'),
          type: named('TYPE', 'Only those that name this type'),
          source: named('URI', 'Only those with this source'),
          subject: named('TEXT', 'Only those with this subject'),
          'created-since': named('TIME', 'Only those created at this time or later'),
          'created-until': named('TIME', 'Only those created before this time'),
        },
        columns: [
          member('id'),
          member('status'),
          member('statusdetails.reason', 'reason'),
          member('origin'),
          member('sink'),
          member('subscriber'),
        ],
        affected: (change) =>
          change.kind.startsWith('subscription.') && change.subscription !== undefined
            ? { id: change.subscription }
            : sinkOf(change),
      },
      get: {
        summary: 'Shows a subscription.',
        method: 'get',
        path: '/subscriptions/{id}',
        operands: ['ID'],
      },
      create: {
        summary: 'Registers a subscription from options, a file, or standard input (-).',
        method: 'post',
        path: '/subscriptions',
        takesFile: true,
        body: {
          ...subscriptionMembers,
          suspended: { help: 'Register a draft: nothing is asked until you resume it', as: 'flag' },
        },
        waits: true,
      },
      update: {
        summary: 'Changes members of a subscription. A file is a JSON merge patch.',
        method: 'patch',
        path: '/subscriptions/{id}',
        operands: ['ID'],
        takesFile: true,
        body: subscriptionMembers,
        versioned: true,
        waits: true,
      },
      delete: {
        summary: 'Deletes a subscription.',
        method: 'delete',
        path: '/subscriptions/{id}',
        operands: ['ID'],
        versioned: true,
        done: ({ id }) => `Deleted subscription ${String(id)}.`,
      },
      suspend: {
        summary: 'Stops deliveries until it is resumed.',
        method: 'post',
        path: '/subscriptions/{id}/suspend',
        operands: ['ID'],
        body: reason,
        versioned: true,
      },
      resume: {
        summary: 'Ends a suspension.',
        method: 'post',
        path: '/subscriptions/{id}/resume',
        operands: ['ID'],
        body: reason,
        versioned: true,
        waits: true,
      },
      handshakes: {
        summary: 'Lists what Assent asked the webhook and what came back, newest first.',
        method: 'get',
        path: '/subscriptions/{id}/handshakes',
        operands: ['ID'],
        columns: handshakeColumns,
      },
      ask: {
        summary: 'Asks the webhook again.',
        method: 'post',
        path: '/subscriptions/{id}/handshakes',
        operands: ['ID'],
        waits: true,
      },
      wait: {
        summary: 'Waits until the webhook has decided. Exit code 1 if the subscription is not active then.',
        method: 'get',
        path: '/subscriptions/{id}',
        operands: ['ID'],
        options: { seconds: { type: 'string', value: 'N', help: 'At most this long. Default: no limit' } },
        run: async (context) => (await import('../check/wait-for-decision.js')).waitForDecision(context),
      },
    },
  },
  origins: {
    summary: 'Registers systems that send events, and sets their policy.',
    operations: {
      list: {
        summary: 'Lists origins by name.',
        method: 'get',
        path: '/origins',
        columns: [
          member('name'),
          member('isdefault', 'default'),
          member('judgement'),
          member('profile'),
          member('callback'),
          member('requestedrate', 'rate'),
          member('leaseseconds', 'lease s'),
        ],
        affected: ({ kind, origin }) => (kind.startsWith('origin.') ? { id: origin } : undefined),
      },
      get: { summary: 'Shows an origin.', method: 'get', path: '/origins/{name}', operands: ['NAME'] },
      create: {
        summary: 'Registers an origin, by its name or from a file.',
        method: 'post',
        path: '/origins',
        takesFile: true,
        body: { name: named('NAME', 'Its DNS name'), ...originMembers },
      },
      update: {
        summary: 'Changes the policy of an origin. A file is a JSON merge patch.',
        method: 'patch',
        path: '/origins/{name}',
        operands: ['NAME'],
        takesFile: true,
        body: originMembers,
        versioned: true,
      },
      delete: {
        summary: 'Deletes an origin that no subscription names.',
        method: 'delete',
        path: '/origins/{name}',
        operands: ['NAME'],
        versioned: true,
        done: ({ name }) => `Deleted origin ${String(name)}.`,
      },
    },
  },
  grants: {
    summary: 'Shows who may send where, records agreements, and revokes grants.',
    operations: {
      list: {
        summary: 'Lists grants.',
        method: 'get',
        path: '/grants',
        query: {
          state: choice(['live', 'expired', 'blocked', 'ended', 'revoked'], 'Only those in this state'),
          basis: choice(['response', 'callback', 'agreement', 'policy'], 'Only those on this basis'),
          ...sinkSearch,
          subscriber: named('NAME', 'Only those that this client needs'),
          'expires-until': named('TIME', 'Only those that expire before this time'),
          held: choice(['true', 'false'], 'Only those on hold, or the others'),
          renews: choice(['true', 'false'], 'Only those that are renewed, or the others'),
        },
        columns: [
          member('id'),
          member('state'),
          member('origin'),
          member('sink'),
          member('allowedrate', 'rate'),
          member('basis'),
          member('expiresat', 'expires'),
        ],
        affected: (change) => (change.kind.startsWith('grant.') ? sinkOf(change) : undefined),
      },
      get: { summary: 'Shows a grant.', method: 'get', path: '/grants/{id}', operands: ['ID'] },
      agree: {
        summary: 'Records an agreement between organisations, without a handshake.',
        method: 'post',
        path: '/grants',
        takesFile: true,
        body: {
          origin: named('NAME', 'Who may send'),
          sink: named('URL', 'Where'),
          rate: named('RATE', 'Requests per minute, or *', { as: 'rate', member: 'allowedrate' }),
          expires: named('TIME', 'When it ends', { member: 'expiresat' }),
          agreement: named('TEXT', 'The agreement, such as its file number', { member: 'reference' }),
        },
      },
      revoke: {
        summary: 'Stops deliveries of an origin to a sink.',
        method: 'post',
        path: '/grants/{id}/revoke',
        operands: ['ID'],
        body: reason,
        versioned: true,
      },
      release: {
        summary: 'Ends a hold before the time that the webhook asked for.',
        method: 'post',
        path: '/grants/{id}/release',
        operands: ['ID'],
        versioned: true,
      },
    },
  },
  blocks: {
    summary: 'Stops an origin, a sink, a subscriber or a tenant, and lifts that again.',
    operations: {
      list: {
        summary: 'Lists the blocks in force, oldest first.',
        method: 'get',
        path: '/blocks',
        query: {
          kind: choice(
            ['origin', 'sink', 'host', 'domain', 'network', 'subscriber', 'tenant'],
            'Only those of this kind',
          ),
          value: named('TEXT', 'Only those with this value'),
        },
        columns: [
          member('id'),
          member('kind'),
          member('value'),
          member('tenant'),
          member('reason'),
          member('expiresat', 'expires'),
        ],
        affected: ({ kind }) => (kind.endsWith('blocked') ? { query: {} } : undefined),
      },
      get: { summary: 'Shows a block and what is under it.', method: 'get', path: '/blocks/{id}', operands: ['ID'] },
      create: {
        summary: 'Blocks an origin, sink, host, domain, network, subscriber or tenant.',
        method: 'post',
        path: '/blocks',
        operands: ['KIND', 'VALUE'],
        query: { 'dry-run': { help: 'Only show what it would stop', as: 'flag' } },
        body: {
          ...reason,
          expires: named('TIME', 'When it ends. Without it, when you lift it', { member: 'expiresat' }),
          tenant: named('NAME', 'Whose deliveries to stop, or * for every tenant'),
        },
      },
      lift: {
        summary: 'Ends a block.',
        method: 'delete',
        path: '/blocks/{id}',
        operands: ['ID'],
        done: ({ id, kind, value }) => `Lifted block ${String(id)} (${String(kind)} ${String(value)}).`,
      },
    },
  },
  audit: {
    summary: 'Shows who changed what, and when.',
    operations: {
      list: {
        summary: 'Lists changes, newest first.',
        method: 'get',
        path: '/audit',
        query: auditSearch,
        columns: [
          member('at'),
          member('actor'),
          member('action'),
          member('target'),
          member('detail.reason', 'reason'),
          member('reference'),
        ],
        affected: () => ({ query: {} }),
        newestFirst: true,
      },
      export: {
        summary: 'Writes every entry that matches to standard output.',
        method: 'get',
        path: '/audit',
        query: auditSearch,
        options: {
          format: { type: 'string', value: 'NAME', choices: ['jsonl', 'csv'], default: 'jsonl', help: 'Its form' },
        },
        run: async (context) => (await import('./export-audit.js')).exportAudit(context),
      },
    },
  },
};

/** `assent match`, which is one operation. */
export const match: Resource['operations'][string] = {
  summary: 'Finds the webhooks for the events in a file, or in standard input (-).',
  method: 'post',
  path: '/match',
  operands: ['FILE'],
  query: {
    origin: named('NAME', 'The origin of the events. Default: the default origin'),
    explain: { help: 'Also say why each subscription matched or not', as: 'flag' },
  },
  run: async (context) => (await import('./match-events.js')).matchEvents(context),
};
