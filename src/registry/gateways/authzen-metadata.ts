import type { Operation, OperationId } from '../../base/contract/contract.js';

/**
 * What AuthZEN clients read first (Authorization API 1.0, section 9): `/.well-known/authzen-configuration`. Its URLs are
 * absolute, so it needs the public URL.
 */
export function authzenMetadata(publicUrl: string, operationOf: (id: OperationId) => Operation): object {
  return {
    policy_decision_point: publicUrl,
    access_evaluation_endpoint: publicUrl + operationOf('evaluateAccess').path,
    access_evaluations_endpoint: publicUrl + operationOf('evaluateAccesses').path,
  };
}
