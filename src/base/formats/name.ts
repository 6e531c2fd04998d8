const maxLength = 200;

/**
 * Whether two names can't look the same and be different, in a log or on a page: no control or invisible characters, no
 * blanks but single ones inside, one Unicode spelling (NFKC). Lone surrogates would break storage.
 */
export function isName(value: string, longest = maxLength): boolean {
  return (
    value.length <= longest && isVisible.test(value) && !hasBlanks.test(value) && value.normalize('NFKC') === value
  );
}

const isVisible = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]+$/u;
/** At either end, twice in a row, or another one than U+0020. */
const hasBlanks = /^ | $| {2}|[^\P{Zs} ]/u;

/**
 * Whether a name means something to Assent itself, or looks like one that does: `*` is every tenant, and the audit record
 * uses the others for the service and for callbacks. No tenant, subscriber or client may have it.
 */
export function isReserved(value: string): boolean {
  const plain = value.normalize('NFKC');
  return /[*\u204e\u2217\u2731\u066d\u2055]/.test(plain) || reserved.has(plain.trim().toLowerCase());
}

const reserved: ReadonlySet<string> = new Set(['assent', 'callback']);
