import { RegistryError, type Fault } from '../../base/errors.js';
import { parseFilters } from '../../matching/filters/filter.js';
import { priceOf } from '../../matching/filters/price.js';
import { parseOriginName, type Origin } from '../../consent/origin.js';
import { timeOf } from '../../base/formats/timestamp.js';
import { secretTexts } from '../../base/texts/credentials.js';
import { subscriptionTexts } from '../../base/texts/subscriptions.js';
import { readSigningSecret, readSinkCredential } from './credential.js';
import {
  checkConfig,
  checkProtocol,
  checkProtocolSettings,
  checkSource,
  checkSubject,
  checkTypes,
  type SubscriptionRequest,
} from './rules.js';
import type { Definition } from './columns.js';
import type { RequestedSecrets, SecretName } from './secrets.js';
import { faultOfBreach } from '../../events/rule.js';
import { lintSubscription } from '../../events/check-event.js';
import { keyidsOf } from '../origins/check-proof.js';
import { originOf } from '../origins/columns.js';
import { recordOf } from '../origins/domain-proof.js';
import type { origin as OriginRow } from '../storage/generated/client.js';
import type { Sql } from '../storage/database.js';
import { nameTexts, originTexts } from '../../base/texts/origins.js';

/** A validated request: the definition, the origin that it names, and what to do with the secrets. */
export interface Requested {
  /** Only a registration can ask for this; a change of a subscription ignores it. */
  isSuspended: boolean;
  definition: Definition;
  /** In lower case; undefined means the tenant's default. */
  origin: string | undefined;
  secrets: RequestedSecrets;
}

export type FaultOfSink = (sink: string) => Omit<Fault, 'pointer'> | undefined;

/** Checks every member. Throws RegistryError `invalid_subscription` with all faults and their places. */
export function parseDefinition(body: SubscriptionRequest, faultOfSink: FaultOfSink): Requested {
  const filters = parseFilters(body.filters, '/filters');
  const credential = readSinkCredential(body.sinkcredential, '/sinkcredential', faultOfSink);
  const signing = readSigningSecret(body.signingsecret, '/signingsecret');
  const sink = faultOfSink(body.sink);
  const origin = body.origin === undefined ? undefined : parseOriginName(body.origin);
  const faults: Fault[] = [
    ...(sink ? [{ pointer: '/sink', ...sink }] : []),
    ...checkProtocol(body.protocol, '/protocol'),
    ...checkProtocolSettings(body.protocolsettings, '/protocolsettings'),
    ...checkSource(body.source, '/source'),
    ...checkTypes(body.types, '/types'),
    ...checkSubject(body.subject, '/subject'),
    ...('faults' in filters ? filters.faults : []),
    ...checkConfig(body.config, '/config'),
    ...credential.faults,
    ...signing.faults,
    ...(origin?.ok === false ? [{ pointer: '/origin', rule: origin.rule, detail: origin.detail }] : []),
  ];
  if (faults.length > 0) throw invalid(faults);
  const wishes = {
    source: body.source,
    types: body.types?.length ? body.types : undefined,
    subject: body.subject,
    filters: 'filters' in filters && filters.filters.length > 0 ? filters.filters : undefined,
  };
  return {
    isSuspended: 'suspended' in body && body.suspended === true,
    definition: {
      sink: body.sink,
      protocol: body.protocol,
      protocolSettings: body.protocolsettings,
      ...wishes,
      price: priceOf(wishes),
      config: body.config,
      requestedRate: body.requestedrate,
      expiresAt: body.expiresat === undefined ? undefined : timeOf(body.expiresat),
      callback: body.callback,
    },
    origin: origin?.ok ? origin.name : undefined,
    secrets: { sinkcredential: credential.requested, signingsecret: signing.requested },
  };
}

export function invalid(faults: Fault[]): RegistryError {
  return new RegistryError('invalid_subscription', subscriptionTexts.invalid, { faults });
}

export function nothingToKeep(name: SecretName): RegistryError {
  return invalid([{ pointer: `/${name}`, rule: 'nothing_to_keep', detail: secretTexts[name].nothingToKeep }]);
}

const longestMs = 5 * 366 * 86_400_000;

/**
 * The error for an end that is not in the future, or too far. An end that stays the same may have passed: a client that
 * changes something else sends back what it read.
 */
export function refuseEnd(end: Date | undefined, now: Date, present?: Date): RegistryError | undefined {
  if (end === undefined || end.getTime() === present?.getTime()) return undefined;
  const fromNowMs = end.getTime() - now.getTime();
  if (fromNowMs > 0 && fromNowMs <= longestMs) return undefined;
  return invalid([{ pointer: '/expiresat', rule: 'time_out_of_range', detail: subscriptionTexts.expiryOutOfRange }]);
}

/** The origin that a request names, or the default of the tenant. */
export interface AskedOrigin {
  tenant: string;
  name: string | undefined;
}

/**
 * Finds the origins that requests name, and locks them against removal until the transaction ends. Returns a
 * RegistryError with the place for an origin that does not exist.
 */
export async function findAskedOrigins(
  sql: Sql,
  asked: readonly AskedOrigin[],
): Promise<(asked: AskedOrigin) => Origin | RegistryError> {
  const names = [...new Set(asked.flatMap(({ name }) => name ?? []))];
  const tenants = [...new Set(asked.map(({ tenant }) => tenant))];
  const isDefaultAsked = asked.some(({ name }) => name === undefined);
  const rows = await sql.$queryRaw<OriginRow[]>`
    select * from origin where tenant = any (${tenants}::text[])
      and (name = any (${names}::text[]) or (isdefault and ${isDefaultAsked}::boolean))
    order by name collate "C" for key share`;
  const origins = rows.map(originOf);
  return ({ tenant, name }) => {
    const isAsked = (origin: Origin) => (name === undefined ? origin.isDefault : origin.name === name);
    return origins.find((origin) => origin.tenant === tenant && isAsked(origin)) ?? unknownOrigin(name);
  };
}

/** Like findAskedOrigins, for one origin; throws the error. */
export async function findAskedOrigin(sql: Sql, asked: AskedOrigin): Promise<Origin> {
  const found = (await findAskedOrigins(sql, [asked]))(asked);
  if (found instanceof RegistryError) throw found;
  return found;
}

function unknownOrigin(name: string | undefined): RegistryError {
  if (name === undefined) {
    return new RegistryError('no_default_origin', originTexts.nameOne, {
      faults: [{ pointer: '/origin', rule: 'origin_missing', detail: originTexts.noDefault }],
    });
  }
  return new RegistryError('origin_not_found', originTexts.unknown, {
    faults: [{ pointer: '/origin', rule: 'origin_unknown', detail: originTexts.unknown }],
  });
}

/** The error for an origin that can have subscriptions only while it is verified, and is not. */
export async function refuseUnverified(
  sql: Sql,
  { name, mustVerify, verifiedBy }: Origin,
): Promise<RegistryError | undefined> {
  if (!mustVerify || verifiedBy !== undefined) return undefined;
  const [keyid = '…'] = await keyidsOf(sql, name);
  return new RegistryError('origin_not_verified', nameTexts.notVerified(name, recordOf(name, keyid)));
}

/**
 * Returns an error if no event under the origin's profile could have such a type or source. A combination that is only
 * unlikely becomes a warning when the subscription is read.
 */
export function lint({ profile }: Origin, definition: Definition): RegistryError | undefined {
  const { faults } = lintSubscription(profile, definition);
  return faults.length > 0 ? invalid(faults.map(faultOfBreach)) : undefined;
}
