import type { ClaimCheck } from './cloud-event.js';
import { backslash, decodeString, quote, skipString, type OnMember } from '../http/json-text.js';
import { parseMediaType } from './media-type.js';
import { isUri } from './uri.js';

const first = 'c'.charCodeAt(0);

/** Notes the members of a claim check (INTG-STD-015, R-11) in `holder` while data is skipped; it keeps no values. */
export function watchClaimCheck(holder: { claimCheck: ClaimCheck | undefined }, bytes: Buffer): OnMember {
  return (from, to, value) => {
    if (bytes[from] !== first && bytes[from] !== backslash) return;
    const name = decodeString(bytes, from, to);
    if (name !== 'claimCheckUri' && name !== 'claimCheckContentType') return;
    const claimCheck = (holder.claimCheck ??= { hasUri: false, hasContentType: false });
    const isText = bytes[value] === quote;
    const content = isText ? decodeString(bytes, value + 1, skipString(bytes, value + 1) - 1) : '';
    if (name === 'claimCheckUri') claimCheck.hasUri = isUri(content);
    else claimCheck.hasContentType = parseMediaType(content) !== undefined;
  };
}
