import type { IncomingHttpHeaders } from 'node:http';
import { RegistryError, type Fault } from '../errors.js';
import type { Operation } from './contract.js';
import { findFaults, parseJson } from './json.js';

const maxFaults = 50;

/** The JSON body of a request, checked unless the handler does. Errors: `media_type_unsupported`, `invalid_request`. */
export function readJsonBody(operation: Operation, headers: IncomingHttpHeaders, bytes: Uint8Array): unknown {
  if (!['', 'identity', undefined].includes(headers['content-encoding']?.toLowerCase())) {
    throw new RegistryError('media_type_unsupported', 'Send the body without a content encoding.');
  }
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (!operation.mediaTypes.includes(mediaType)) {
    throw new RegistryError('media_type_unsupported', `The body must be ${operation.mediaTypes.join(' or ')}.`);
  }
  const json = parseJson(bytes);
  if ('faults' in json) throw brokenBody(json.faults);
  if (operation.isByPart) return json.value;
  const ofText = findFaults(json.text);
  const faults = ofText.length > 0 ? ofText : operation.checkBody(json.value);
  if (faults.length > 0) throw brokenBody(faults);
  return json.value;
}

export function brokenBody(faults: readonly Fault[]): RegistryError {
  return new RegistryError('invalid_request', 'The body breaks a rule.', { faults: faults.slice(0, maxFaults) });
}
