/**
 * The limits of a request, in one table. openapi/ repeats the ones that a schema can express. Limits that only the
 * contract needs are not here.
 */
export const limits = {
  /** Faults in one response, and broken rules that are listed for one event. */
  faults: 50,
  /**
   * Deeper bodies are refused, because code that walks a value may be recursive. The deepest valid body has 32 nested
   * filters, and every `all` needs two levels; one filter too many has its own fault.
   */
  bodyDepth: 68,
  /** Commas and opening brackets in a body: about as many as values. */
  bodyValues: 50_000,
  /** The data of an event may be nested deeper than any body, because it is never built. */
  eventDepth: 256,
  /** All filters, including nested ones. */
  filters: 100,
  filterDepth: 32,
  /** A CESQL expression. `depth` counts nested parentheses, unary operators, arguments and sets. */
  expression: { characters: 32_768, tokens: 512, depth: 32 },
  /** The subscription rules of one origin, as JSON. */
  rulesBytes: 32_768,
  headers: 50,
  headerBytes: 4_096,
  configBytes: 8_192,
  configDepth: 32,
  /** Characters of a sink or another URL. */
  urlLength: 2_048,
  /** Characters of a DNS name (RFC 1035, section 2.3.4, without the trailing dot). */
  nameLength: 253,
  /** Pairs in one look-up, and outcomes in one report. */
  entries: 1_000,
  /** A message of events, by default. Events of 64 KiB must always be accepted (CloudEvents, Size Limits). */
  message: { bytes: 1_048_576, events: 100 },
} as const;
