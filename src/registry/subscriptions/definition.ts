import { RegistryError, type Fault } from '../../base/errors.js';
import { parseFilters } from '../../matching/filters/filter.js';
import { priceOf } from '../../matching/filters/price.js';
import { parseOriginName } from '../../consent/origin.js';
import { credentialTexts } from '../../base/texts/credentials.js';
import { subscriptionTexts } from '../../base/texts/subscriptions.js';
import { readSinkCredential, type RequestedCredential } from './credential.js';
import {
  checkConfig,
  checkProtocol,
  checkProtocolSettings,
  checkSource,
  checkSubject,
  checkTypes,
  type SubscriptionRequest,
} from './rules.js';
import type { Definition } from './subscription.js';

/** A validated request: the definition, the origin that it names, and what to do with the credential. */
export interface Requested {
  /** Only a registration can ask for this; a change of a subscription ignores it. */
  isSuspended: boolean;
  definition: Definition;
  /** In lower case; undefined means the tenant's default. */
  origin: string | undefined;
  credential: RequestedCredential;
}

export type FaultOfSink = (sink: string) => Omit<Fault, 'pointer'> | undefined;

/** Checks every member. Throws RegistryError `invalid_subscription` with all faults and their places. */
export function parseDefinition(body: SubscriptionRequest, faultOfSink: FaultOfSink): Requested {
  const filters = parseFilters(body.filters, '/filters');
  const credential = readSinkCredential(body.sinkcredential, '/sinkcredential', faultOfSink);
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
      expiresAt: body.expiresat === undefined ? undefined : new Date(body.expiresat),
      callback: body.callback,
    },
    origin: origin?.ok ? origin.name : undefined,
    credential: credential.credential,
  };
}

export function invalid(faults: Fault[]): RegistryError {
  return new RegistryError('invalid_subscription', subscriptionTexts.invalid, { faults });
}

export function nothingToKeep(): RegistryError {
  return invalid([{ pointer: '/sinkcredential', rule: 'nothing_to_keep', detail: credentialTexts.nothingToKeep }]);
}

/** As JSON that Postgres reads into columns; undefined members become null. */
export function columnsOf(definition: Definition) {
  return {
    sink: definition.sink,
    protocol: definition.protocol,
    protocolsettings: definition.protocolSettings,
    source: definition.source,
    types: definition.types ?? [],
    subject: definition.subject,
    filters: definition.filters,
    price: definition.price,
    config: definition.config,
    requestedrate: definition.requestedRate,
    endsat: definition.expiresAt,
    callback: definition.callback,
  };
}
