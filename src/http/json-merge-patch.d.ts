declare module 'json-merge-patch' {
  /** RFC 7396. May change `target`. */
  const mergePatch: { apply(target: unknown, patch: unknown): unknown };
  export default mergePatch;
}
