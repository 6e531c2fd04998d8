// Addresses in the guides that a registry serves, for someone who has a code. `registry` is its public URL; if it has none, the
// address is a path.

/** The section of a verdict, or of another code of a status (docs/reference/verdicts.md). */
export const helpWithVerdict = (registry: string, code: string) => `${registry}/guides/reference/verdicts#${code}`;

/** The row of the code of a problem (docs/reference/errors.md). */
export const helpWithProblem = (registry: string, code: string) => `${registry}/guides/reference/errors#${code}`;
