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

/**
 * What AuthZEN clients read first (section 9): `/.well-known/authzen-configuration`. Its URLs are absolute, so it needs
 * the public URL.
 */
export function authzenMetadata({ config: { publicUrl }, contract }: Context): object | undefined {
  if (publicUrl === undefined) return undefined;
  return {
    policy_decision_point: publicUrl,
    access_evaluation_endpoint: publicUrl + contract.operationOf('evaluateAccess').path,
    access_evaluations_endpoint: publicUrl + contract.operationOf('evaluateAccesses').path,
  };
}

/** OpenID AuthZEN Authorization API 1.0, sections 6 and 7: the same decision as a look-up, in another form. */
export function authzenRoutes({ follower, freshness }: Context): Handlers<'evaluateAccess' | 'evaluateAccesses'> {
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
        pair === undefined
          ? decide(loaded(), tenant, bodyOf(call))
          : decidePair(loaded(), tenant, pair.origin, pair.sink);
      return { status: 200, headers: ageHeader(freshness.age()), body };
    },

    evaluateAccesses: (call) => {
      checkQuery(call);
      const { evaluations = [], options, ...defaults } = bodyOf(call);
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
  };
}

function decide(known: Replica, tenant: string, { subject, action, resource }: Schemas['AccessRequest']): Evaluated {
  if (subject.type !== 'origin') return denied('subject_type_unknown', 'A subject has the type origin.');
  if (action.name !== 'deliver') return denied('action_unknown', 'The action is deliver.');
  if (resource.type !== 'sink') return denied('resource_type_unknown', 'A resource has the type sink.');
  return decidePair(known, tenant, subject.id.toLowerCase(), resource.id);
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

/** AuthZEN knows only 400 for a body of another media type (section 10.1.2). */
function bodyOf<Id extends 'evaluateAccess' | 'evaluateAccesses'>(
  call: OperationRequest<Id>,
): OperationRequest<Id>['body'] {
  try {
    return call.body;
  } catch (error) {
    if (!(error instanceof RegistryError) || error.code !== 'media_type_unsupported') throw error;
    throw new RegistryError('invalid_request', error.detail);
  }
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
