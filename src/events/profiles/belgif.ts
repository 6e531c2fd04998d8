import { at, isGiven, rulesOf, ruleTextOf, type Violation, type Rule } from '../rule.js';
import { isUriReference } from '../../base/formats/uri.js';
import { cloudeventsRules, dataschemaFragment } from './cloudevents.js';

const rule = rulesOf('belgif', 'Belgif REST guide, Events');

const namePart = /^[a-z][A-Za-z0-9]*$/;
const version = /^v[1-9][0-9]*$/;

interface TypeParts {
  /** Service name and version, as the attribute `service` has them. */
  service: string;
  /** Resource type, child resource types, method and suffix. */
  rest: string[];
}

/** `be.nsso.employer.v1.addresses.notify.updated`, cut at the first version that a service name stands before. */
function parseType(type: string): TypeParts | undefined {
  const parts = type.split('.');
  const at = parts.findIndex((part, index) => index > 0 && version.test(part));
  if (at < 0) return undefined;
  const rest = parts.slice(at + 1);
  if (!parts.slice(0, at).every((part) => namePart.test(part)) || !rest.every((part) => namePart.test(part))) {
    return undefined;
  }
  return { service: parts.slice(0, at + 1).join('.'), rest };
}

function isService(text: string): boolean {
  const parts = text.split('.');
  return parts.length > 1 && version.test(parts.pop() as string) && parts.every((part) => namePart.test(part));
}

/** What cannot be a resource type: where one of these comes first, there is none. */
const methods = ['get', 'create', 'update', 'delete', 'notify'];

/** A resource type and a method, and a method too between a resource type and the suffix of a reply. */
function hasForm(type: string): boolean {
  const { rest = [] } = parseType(type) ?? {};
  return rest.length >= (isReplyType(type) ? 3 : 2) && !methods.includes(rest[0] as string);
}

/** `reply`, `problemReply`, and what an API adds in their manner, such as `intermediateReply`. */
const isReplyType = (type: string) => /(?:\.reply|\.[a-z][A-Za-z0-9]*Reply)$/.test(type.slice(-128));

const isReply = (type: string | undefined) => type !== undefined && isReplyType(type);

const ownRules: readonly Rule[] = [
  rule('service_required', 'MUST', 'event-cespec', 'The event has the attribute service.', (event) =>
    isGiven(event, 'service') ? undefined : at('service'),
  ),
  rule(
    'service_string',
    'MUST',
    'event-cespec',
    'The service is a string of at least one character.',
    ({ attributes }) => {
      const service = attributes.get('service');
      return service === undefined || (typeof service === 'string' && service !== '') ? undefined : at('service');
    },
  ),
  rule(
    'service_form',
    'SHOULD',
    'event-svctype',
    'The service is the name of an API, .v and its major version, such as addressChanges.v1.',
    (event) => {
      const service = ruleTextOf(event, 'service');
      return !service || isService(service) ? undefined : at('service');
    },
  ),
  rule(
    'type_form',
    'SHOULD',
    'event-svctype',
    'The type is the service with its version, then resource type, method and an optional suffix.',
    (event) => {
      const type = ruleTextOf(event, 'type');
      return type === undefined || hasForm(type) ? undefined : at('type');
    },
    'type',
  ),
  rule('type_service', 'SHOULD', 'event-svctype', 'The type begins with the service that defines it.', (event) => {
    const service = ruleTextOf(event, 'service');
    const type = ruleTextOf(event, 'type');
    return !service || type === undefined || type.startsWith(`${service}.`) ? undefined : at('type');
  }),
  rule(
    'type_notify',
    'SHOULD',
    'event-svctype',
    'In the type of an event, notify is followed by what happened, such as updated.',
    (event) => {
      const type = ruleTextOf(event, 'type');
      return type?.endsWith('.notify') && parseType(type) ? at('type') : undefined;
    },
    'type',
  ),
  rule(
    'reply_related',
    'MUST',
    'event-cespec',
    'A reply has relatedto and relatedtosource, the id and the source of the request.',
    (event) => {
      const hasId = isGiven(event, 'relatedto');
      const hasSource = isGiven(event, 'relatedtosource');
      if (hasId === hasSource && (hasId || !isReply(ruleTextOf(event, 'type')))) return undefined;
      const findings: Violation[] = [];
      if (!hasId) findings.push({ member: 'relatedto' });
      if (!hasSource) findings.push({ member: 'relatedtosource' });
      return findings;
    },
  ),
  rule('relatedto', 'MUST', 'event-cespec', 'The relatedto is an id: a string of at least one character.', (event) => {
    const id = event.attributes.get('relatedto');
    return id === undefined || (typeof id === 'string' && id !== '') ? undefined : at('relatedto');
  }),
  rule('relatedtosource', 'MUST', 'event-cespec', 'The relatedtosource is a source: a URI reference.', (event) => {
    const source = event.attributes.get('relatedtosource');
    if (source === undefined || (typeof source === 'string' && source !== '' && isUriReference(source)))
      return undefined;
    return at('relatedtosource');
  }),
  rule(
    'reply_suffix',
    'SHOULD',
    'event-svctype',
    'The type of a message with relatedto ends in reply, problemReply or a suffix like them.',
    (event) => {
      const type = ruleTextOf(event, 'type');
      return !event.attributes.has('relatedto') || type === undefined || isReply(type) ? undefined : at('type');
    },
  ),
];

/** The guide points a dataschema at a section of a document, which takes a fragment. */
export const belgifRules: readonly Rule[] = [
  ...cloudeventsRules.filter((each) => each !== dataschemaFragment),
  ...ownRules,
];
