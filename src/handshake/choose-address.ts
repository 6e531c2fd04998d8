import { isReachable, networkOf, type AddressRules } from './address.js';
import { Failure } from './failure.js';

/** A name may have any number of addresses; trying them all would make the registry a scanner. */
const maxDialsPerFamily = 2;

/**
 * What may be dialled of the addresses of a name, IPv4 first, or the address for which the name is refused as a whole:
 * a name with one good and one bad address is an attack or a mistake, and both are better not tried.
 */
export function chooseAddresses(
  found: readonly string[],
  rules: AddressRules,
): { candidates: string[] } | { blocked: string } {
  // DNS64 adds addresses to names that have none in IPv6. They are left out, and refused only where nothing else is.
  const own = found.filter((address) => rules.verdictOf(address) !== 'rfc6052');
  const considered = own.length > 0 ? own : found;
  const blocked = considered.find((address) => !isReachable(rules.verdictOf(address)));
  if (blocked !== undefined) return { blocked };
  const ipv4 = considered.filter((address) => !address.includes(':'));
  const ipv6 = considered.filter((address) => address.includes(':'));
  return { candidates: [...ipv4.slice(0, maxDialsPerFamily), ...ipv6.slice(0, maxDialsPerFamily)] };
}

/**
 * The first connection that one of the addresses accepts, or the milliseconds to wait if `admit` says so before
 * anything was dialled. Each network is admitted once. Throws the Failure of the last address that was tried.
 */
export async function openFirst<Socket>(
  candidates: readonly string[],
  admit: (network: string) => Promise<number | undefined>,
  dial: (address: string, candidatesLeft: number) => Promise<Socket>,
): Promise<Socket | number> {
  const admitted = new Set<string>();
  let failure: Failure | undefined;
  for (const [index, address] of candidates.entries()) {
    const network = networkOf(address);
    const waitMs = admitted.has(network) ? undefined : await admit(network);
    if (waitMs !== undefined) {
      if (index === 0) return waitMs;
      break;
    }
    admitted.add(network);
    try {
      return await dial(address, candidates.length - index);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failure = error;
    }
  }
  throw failure ?? new Failure('name_not_found', 'The name has no address.');
}
