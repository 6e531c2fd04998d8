import type { ErrorCode } from './problems.js';
import { textIn, type Text } from './texts/text.js';

/** A place in a request that breaks a rule. */
export interface Fault<Detail = string | Text> {
  /** JSON pointer into the body (`/sink`), or a place outside the body: `query/limit`, `header/prefer`, `path/id`. */
  pointer: string;
  /** Stable name of the broken rule. */
  rule: FaultRule;
  detail: Detail;
}

/** `docs/reference/faults.md` has a sentence for each, `event-rules.md` beside it for those of a message of events. */
export const faultRules = [
  'required',
  'type',
  'member_unknown',
  'parameter_repeated',
  'value_not_allowed',
  'value_out_of_range',
  'value_empty',
  'length_wrong',
  'format_wrong',
  'control_character',
  'repeated',
  'too_long',
  'too_deep',
  'too_many_values',
  'name_empty',
  'name_forbidden',
  'name_repeated',
  'not_utf8',
  'not_json',
  'text_nul',
  'text_lone_surrogate',
  'header_repeated',
  'media_type_not_supported',
  'encoding_not_supported',
  'percent_encoding',
  'key_reused',
  'etag_altered',
  'cursor_unknown',
  'cursor_of_other_origin',
  'id_changed',
  'time_out_of_range',
  'rate_malformed',
  'retryafter_malformed',
  'token_missing',
  'token_malformed',
  'token_too_long',
  'token_too_old',
  'token_expired',
  'token_alg',
  'token_signature',
  'token_kid',
  'token_cnf',
  'origin_empty',
  'origin_not_ascii',
  'origin_wildcard',
  'origin_scheme',
  'origin_address',
  'origin_port',
  'origin_trailing_dot',
  'origin_too_long',
  'origin_label_too_long',
  'origin_malformed',
  'origin_single_label',
  'certificate_malformed',
  'certificate_key',
  'certificate_chain',
  'certificate_ended',
  'certificate_purpose',
  'origin_missing',
  'origin_unknown',
  'origin_exists',
  'name_changed',
  'private_member',
  'key_not_supported',
  'key_exists',
  'key_set_unusable',
  'wildcard_alone',
  'wildcard_misplaced',
  'not_a_url',
  'not_https',
  'not_ascii',
  'not_canonical',
  'characters_not_allowed',
  'userinfo',
  'fragment',
  'dot_segment',
  'access_token',
  'port_not_allowed',
  'own_host',
  'ip_literal',
  'trailing_dot',
  'host_malformed',
  'single_label',
  'special_use_name',
  'sink_not_allowed',
  'address_not_allowed',
  'no_grant',
  'expired',
  'revoked',
  'ended',
  'suspended',
  'held',
  'rate_used_up',
  'sources_disagree',
  'sink_missing',
  'host_not_listed',
  'origin_mismatch',
  'origin_repeated',
  'not_a_uri_reference',
  'protocol_unknown',
  'protocol_not_supported',
  'method_not_post',
  'too_many_headers',
  'header_name_malformed',
  'header_reserved',
  'header_value_malformed',
  'not_a_utc_instant',
  'nothing_to_keep',
  'blocked',
  'secret_for_other_host',
  'signing_secret_malformed',
  'stands_beside_subscription',
  'subscriber_not_allowed',
  'type_not_allowed',
  'source_not_allowed',
  'subject_not_allowed',
  'too_many_filters',
  'dialect_missing',
  'dialect_repeated',
  'dialect_unknown',
  'shape_outdated',
  'unlikely_to_match',
  'too_expensive',
  'filters_empty',
  'attributes_empty',
  'name_reserved',
  'name_malformed',
  'text_malformed',
  'too_many_tokens',
  'character_unexpected',
  'string_unterminated',
  'pattern_expected',
  'operator_expected',
  'operand_expected',
  'set_expected',
  'attribute_expected',
  'function_unknown',
  'arity_wrong',
  'integer_out_of_range',
  'parenthesis_unclosed',
  'body_too_large',
  'too_many_events',
  'content_type_repeated',
  'format_not_supported',
  'charset_not_supported',
  'not_an_event',
  'batch_not_array',
] as const;

/** A rule of events starts with the name of its profile. A rule of a token may be named after a claim. */
export type FaultRule = (typeof faultRules)[number] | `${string}.${string}` | `token_${string}`;

/**
 * An error that a client can do something about. `code` is stable and public, `detail` is for people, `faults` name the
 * places.
 */
export class RegistryError extends Error {
  override readonly name = 'RegistryError';
  readonly code: ErrorCode;
  /** For people; `message` is its English text. */
  readonly detail: string | Text;
  readonly faults: readonly Fault[];
  readonly retryAfterSeconds: number | undefined;
  /** For clients that discard the body: the rule of its fault, as a header. */
  readonly denial: FaultRule | undefined;

  constructor(
    code: ErrorCode,
    detail: string | Text,
    options: { faults?: readonly Fault[]; cause?: unknown; retryAfterSeconds?: number; denial?: FaultRule } = {},
  ) {
    super(textIn(detail, 'en'), { cause: options.cause });
    this.code = code;
    this.detail = detail;
    this.faults = options.faults ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.denial = options.denial;
  }
}

/**
 * An error that the operator can fix: a setting, a file, a port in use. The message is for people and names the cause;
 * the stack is not printed.
 */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}

/** Invalid settings: all of them at once, one on a line. */
export class ConfigurationError extends SetupError {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The configuration has ${faults.length} fault(s):\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

/** An invalid command line. The message says what to write instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
