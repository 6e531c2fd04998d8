/**
 * What a request may hold at most, in one table. openapi/ writes the same into the contract where a schema can say it;
 * those are here only if code below the contract needs them too.
 */
export const limits = {
  /** Faults that one answer lists, and breaches of rules that are listed for one event. */
  faults: 50,
  /**
   * Deeper bodies are refused, because code that walks a value may be recursive. The contract goes deepest with 32
   * filters inside each other, of which every `all` takes two; one too many has a fault of its own.
   */
  bodyDepth: 68,
  /** Commas and opening brackets in a body, of which there are about as many as values. */
  bodyValues: 50_000,
  /** Data of events may be deeper than any body, because nothing is made of it. */
  eventDepth: 256,
  /** Filters in all, those inside of others included. */
  filters: 100,
  filterDepth: 32,
  /** A CESQL expression. `depth` counts parentheses, unary operators, arguments and sets inside each other. */
  expression: { characters: 32_768, tokens: 512, depth: 32 },
  headers: 50,
  headerBytes: 4_096,
  configBytes: 8_192,
  configDepth: 32,
  /** Characters of a sink or another URL. */
  urlLength: 2_048,
  /** Characters of a DNS name (RFC 1035, section 2.3.4, without the dot at its end). */
  nameLength: 253,
  /** Pairs that one request asks for, and outcomes that one request reports. */
  entries: 1_000,
  /** A message of events, by default. Everyone must let events of 64 KiB through (CloudEvents, Size Limits). */
  message: { bytes: 1_048_576, events: 100 },
} as const;
