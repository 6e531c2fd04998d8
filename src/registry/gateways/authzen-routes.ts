import type { Context } from '../context.js';
import { RegistryError } from '../../base/errors.js';
import { presentPermission } from '../../consent/decision.js';
import type { components } from '../../base/contract/contract.gen.js';
import { ageHeader, type OperationRequest, type Handlers } from '../http/handler.js';
import { indexLoading, type Replica } from '../../matching/replica/replica.js';
import { isPlainJson } from '../http/body.js';
import { limits } from '../../base/limits.js';

type Schemas = components['schemas'];
type Evaluated = Schemas['AccessDecision'];
type Entry = Partial<Record<keyof Schemas['AccessRequest'], unknown>>;

const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

/**
 * What AuthZEN clients read first (section 9): `/.well-known/authzen-configuration`. Its URLs are absolute, and clients
 * compare the first one with the URL that they know (section 9.2.3). So it has the public URL, never what a client wrote
 * into `Host`, which is how a program is led to another decision point. In development, `Host` may name this machine.
 */
export function authzenMetadata({ config, contract }: Context): (host: string | undefined) => object | undefined {
  return (host = '') => {
    const own = config.tokens.developmentIssuer && loopback.test(host) ? `http://${host}` : undefined;
    const base = config.publicUrl ?? own;
    if (base === undefined) return undefined;
    return {
      policy_decision_point: base,
      access_evaluation_endpoint: base + contract.operationOf('evaluateAccess').path,
      access_evaluations_endpoint: base + contract.operationOf('evaluateAccesses').path,
      search_resource_endpoint: base + contract.operationOf('searchResources').path,
    };
  };
}

export type AccessOperation = 'evaluateAccess' | 'evaluateAccesses' | 'searchResources';

/**
 * OpenID AuthZEN Authorization API 1.0, sections 6 to 8: the same decision as a look-up, in another form. Not its searches
 * for actions, of which there is one, and for subjects: admins read `GET /grants?sink=`.
 */
export function authzenRoutes({ database, follower, freshness }: Context): Handlers<AccessOperation> {
  function loaded(): Replica {
    const known = follower.replica();
    if (known === undefined) throw indexLoading();
    return known;
  }

  return {
    evaluateAccess: (call) => {
      checkQuery(call);
      const pair = readAccess(call.rawHeaders, call.bytes);
      const { tenant } = call.principal;
      const body =
        pair === undefined ? decide(loaded(), tenant, call.body) : decidePair(loaded(), tenant, pair.origin, pair.sink);
      return { status: 200, headers: ageHeader(freshness.age()), body };
    },

    evaluateAccesses: (call) => {
      checkQuery(call);
      const { evaluations = [], options, ...defaults } = call.body;
      const known = loaded();
      const { tenant } = call.principal;
      const headers = ageHeader(freshness.age());
      if (evaluations.length === 0) return { status: 200, headers, body: decide(known, tenant, complete(defaults)) };
      const semantic = options?.evaluations_semantic ?? 'execute_all';
      const endsWith = { execute_all: undefined, deny_on_first_deny: false, permit_on_first_permit: true }[semantic];
      const decisions: Evaluated[] = [];
      for (const evaluation of evaluations) {
        const entry = { ...defaults, ...evaluation };
        const fault = faultOfEntry(entry);
        decisions.push(fault ?? decide(known, tenant, entry as Schemas['AccessRequest']));
        if (decisions.at(-1)?.decision === endsWith) break;
      }
      return { status: 200, headers, body: { evaluations: decisions } };
    },

    searchResources: async (call) => {
      const { subject, action, resource, page = {} } = call.body;
      const headers = ageHeader(freshness.age());
      const unknown = faultOfKinds({ subject, action, resource });
      if (unknown !== undefined) {
        const body = { page: { next_token: '', count: 0 }, context: unknown.context, results: [] };
        return { status: 200, headers, body };
      }
      const known = loaded();
      const { tenant } = call.principal;
      const origin = subject.id.toLowerCase();
      const { limit, after } = readPage(page, origin);
      // In the order of the primary key, so a page costs its limit. An origin of another tenant costs nothing.
      const rows = await database.sql.$queryRaw<Array<{ sink: string }>>`
        select sink from "grant"
        where origin = (select name from origin where name = ${origin} and tenant = ${tenant})
          and tenant = ${tenant} and sink > ${after}
        order by sink limit ${limit + 1}`;
      const examined = rows.slice(0, limit).map(({ sink }) => sink);
      const results = examined.flatMap((sink) => {
        const { decision, context } = decidePair(known, tenant, origin, sink);
        return decision ? [{ type: 'sink', id: sink, properties: context }] : [];
      });
      // A page of none leads nowhere: its token would return the same one for ever.
      const next_token = limit > 0 && rows.length > limit ? tokenOf([origin, limit, examined.at(-1) ?? after]) : '';
      return { status: 200, headers, body: { page: { next_token, count: results.length }, results } };
    },
  };
}

const usualLimit = 100;
const maxLimit = 1_000;

/** Origin, limit, and the last sink of the page before: a token continues one search only (section 8.2). */
type Position = [origin: string, limit: number, after: string];

const tokenOf = (position: Position) => Buffer.from(JSON.stringify(position)).toString('base64url');

function readPage({ token = '', limit }: NonNullable<Schemas['ResourceSearch']['page']>, origin: string) {
  const wanted = limit === undefined ? undefined : Math.min(limit, maxLimit);
  if (token === '') return { limit: wanted ?? usualLimit, after: '' };
  const position = positionOf(token);
  if (position?.[0] === origin && position[1] === (wanted ?? position[1])) {
    return { limit: position[1], after: position[2] };
  }
  throw new RegistryError('invalid_request', 'This token is not of this search.', {
    faults: [
      {
        pointer: '/page/token',
        rule: 'cursor_unknown',
        detail: 'Take it from the page before, and change nothing else.',
      },
    ],
  });
}

function positionOf(token: string): Position | undefined {
  try {
    const position = JSON.parse(Buffer.from(token, 'base64url').toString()) as Position;
    const [, limit, after] = position;
    const isPage = Number.isInteger(limit) && limit > 0 && limit <= maxLimit;
    // Postgres stores no NUL.
    const isOwn = isPage && typeof after === 'string' && !after.includes('\0');
    return isOwn && tokenOf(position) === token ? position : undefined;
  } catch {
    return undefined;
  }
}

function decide(known: Replica, tenant: string, request: Schemas['AccessRequest']): Evaluated {
  const { subject, resource } = request;
  return faultOfKinds(request) ?? decidePair(known, tenant, subject.id.toLowerCase(), resource.id);
}

function faultOfKinds({ subject, action, resource }: Schemas['ResourceSearch']): Evaluated | undefined {
  if (subject.type !== 'origin') return denied('subject_type_unknown', 'A subject has the type origin.');
  if (action.name !== 'deliver') return denied('action_unknown', 'The action is deliver.');
  if (resource.type !== 'sink') return denied('resource_type_unknown', 'A resource has the type sink.');
  return undefined;
}

function decidePair(known: Replica, tenant: string, origin: string, sink: string): Evaluated {
  const permission = presentPermission(origin, sink, known.permission(tenant, origin, sink));
  const { allowed, origin: _origin, sink: _sink, ...context } = permission;
  return { decision: allowed, context };
}

function denied(denial: string, message: string): Evaluated {
  return { decision: false, context: { denial, message } };
}

/** The decision for an entry that is no access request (section 7.2.1). */
function faultOfEntry(entry: Entry): Evaluated | undefined {
  const wrong = wrongMembers(entry);
  if (wrong.length === 0) return undefined;
  const message = `This is missing or malformed: ${wrong.join(', ')}.`;
  return { decision: false, context: { denial: 'request_invalid', message, error: { status: 400, message } } };
}

function wrongMembers(entry: Entry): string[] {
  const isEntity = (value: unknown) => hasText(value, 'type') && hasText(value, 'id');
  return [
    ...(isEntity(entry.subject) ? [] : ['subject']),
    ...(hasText(entry.action, 'name') ? [] : ['action']),
    ...(isEntity(entry.resource) ? [] : ['resource']),
  ];
}

function hasText(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && typeof (value as Record<string, unknown>)[name] === 'string';
}

/** Without `evaluations`, the defaults are the request. */
function complete(defaults: Entry): Schemas['AccessRequest'] {
  const faults = wrongMembers(defaults).map((name) => {
    return { pointer: `/${name}`, rule: 'required' as const, detail: 'This member is required without evaluations.' };
  });
  if (faults.length > 0) throw new RegistryError('invalid_request', 'The request is incomplete.', { faults });
  return defaults as Schemas['AccessRequest'];
}

/** The fast path skips what the contract says of the query: it has none. */
function checkQuery({ queryText, query }: OperationRequest<'evaluateAccess' | 'evaluateAccesses'>): void {
  if (queryText !== '') void query;
}

/** As programs write it, in either order of the specification's own examples. */
const origin = '"subject":\\{"type":"origin","id":"([A-Za-z0-9.-]{1,253})"}';
const action = '"action":\\{"name":"deliver"}';
const sink = '"resource":\\{"type":"sink","id":"([!#-\\[\\]-~]+)"}';
const plain = [
  new RegExp(`^\\{${origin},${action},${sink}\\}$`),
  new RegExp(`^\\{${origin},${sink},${action}\\}$`),
] as const;
const maxBytes = limits.nameLength + limits.urlLength + 128;

/**
 * Fast path for an access request without white space and without members that are ignored. Such a text always fits the
 * contract. Undefined for any other.
 */
function readAccess(rawHeaders: readonly string[], bytes: Buffer): { origin: string; sink: string } | undefined {
  if (bytes.length > maxBytes || !isPlainJson(rawHeaders)) return undefined;
  const text = bytes.toString('latin1');
  const match = plain[0].exec(text) ?? plain[1].exec(text);
  return match === null ? undefined : { origin: (match[1] as string).toLowerCase(), sink: match[2] as string };
}
