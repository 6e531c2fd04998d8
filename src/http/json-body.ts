import type { IncomingHttpHeaders } from 'node:http';
import { RegistryError } from '../errors.js';
import type { Operation } from './contract.js';
import { parseJson } from './json.js';

/** The JSON body of a request, checked by the contract. RegistryError `media_type_unsupported` or `invalid_request`. */
export function readJsonBody(operation: Operation, headers: IncomingHttpHeaders, bytes: Uint8Array): unknown {
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new RegistryError('media_type_unsupported', 'Send the body without a content encoding.');
  }
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (!operation.mediaTypes.includes(mediaType) && mediaType !== 'application/json') {
    throw new RegistryError('media_type_unsupported', `The body must be ${operation.mediaTypes.join(' or ')}.`);
  }
  const json = parseJson(bytes);
  const faults = 'faults' in json ? json.faults : operation.isByEntry ? [] : operation.checkBody(json.value);
  if (faults.length > 0) throw new RegistryError('invalid_request', 'The body breaks a rule.', { faults });
  return 'value' in json ? json.value : undefined;
}
