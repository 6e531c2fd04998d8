import type { IncomingHttpHeaders } from 'node:http';
import { RegistryError } from '../errors.js';
import type { Operation } from './contract.js';
import { parseJson } from './json.js';

/** The JSON body of a request, checked by the contract. RegistryError `media_type_unsupported` or `invalid_request`. */
export function readJsonBody(operation: Operation, headers: IncomingHttpHeaders, bytes: Uint8Array): unknown {
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  const accepted = operation.mediaTypes.includes(mediaType) || mediaType === 'application/json';
  if (!accepted || (headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new RegistryError(
      'media_type_unsupported',
      `The body must be ${operation.mediaTypes.join(' or ')}, without a content encoding.`,
    );
  }
  const json = parseJson(bytes);
  const faults = 'faults' in json ? json.faults : operation.checkBody(json.value);
  if (faults.length > 0) throw new RegistryError('invalid_request', 'The body breaks a rule.', { faults });
  return 'value' in json ? json.value : undefined;
}
