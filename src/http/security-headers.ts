import { apiVersion } from './contract.gen.js';

/**
 * What every answer of the API carries: which version of the contract it keeps, that it is no page, that nobody keeps
 * it, and that it is only for https once seen so.
 */
export const apiHeaders: Readonly<Record<string, string>> = {
  'API-Version': apiVersion,
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
};
