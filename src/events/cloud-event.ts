import { escapePointer } from '../base/formats/json.js';
import type { ContextAttributes } from './context-attributes.js';

export type Mode = 'structured' | 'batched' | 'binary';

/** `text` is a JSON string; `json_text` is one that contains the text of a JSON object or array. */
export type DataForm = 'absent' | 'object' | 'array' | 'text' | 'json_text' | 'scalar' | 'base64' | 'body';

/** Which of the two members of a claim check `data` has, with a value of the right kind. */
export interface ClaimCheck {
  hasUri: boolean;
  hasContentType: boolean;
}

/**
 * The readable parts of an event. Invalid attributes are left out, so that a profile can still judge the others. The data
 * itself is not kept.
 */
export interface EventParts {
  readonly mode: Mode;
  /** JSON pointer of the event in the message: '' or, in a batch, its place (`/3`). */
  readonly at: string;
  /** Includes `datacontenttype`; attributes that are null in JSON are absent. */
  readonly attributes: ContextAttributes;
  /** Attributes with an invalid value, so that they do not count as missing. Undefined in a CloudEvent. */
  readonly faulty: ReadonlySet<string> | undefined;
  /** Size of the event as received, in bytes; in binary mode of the attribute headers and the body. */
  readonly bytes: number;
  readonly hasData: boolean;
  /** Size of the data as received, in bytes: of the JSON value, the decoded Base64, or the body. */
  readonly dataBytes: number;
  /** Declared as JSON, or in JSON without any declaration (JSON format, section 3.1.1). */
  readonly dataIsJson: boolean;
  readonly dataForm: DataForm;
  readonly claimCheck: ClaimCheck | undefined;
  readonly datacontenttype: string | undefined;
}

/** An event that keeps every MUST of the CloudEvents specification. `readEvents` and `readEventOf` create no others. */
export interface CloudEvent extends EventParts {
  readonly id: string;
  readonly source: string;
  readonly type: string;
}

/**
 * Where a member stands in the message: a JSON pointer, or in binary mode the header or a pointer into the body.
 * `member` names an attribute, `data` or `data_base64`, with `below` a pointer inside of it; undefined is the event.
 */
export function pointerTo(event: { mode: Mode; at: string }, member: string | undefined, below = ''): string {
  if (event.mode !== 'binary') return member === undefined ? event.at : `${event.at}/${escapePointer(member)}${below}`;
  if (member === undefined || member === 'data') return below;
  return member === 'datacontenttype' ? 'header/content-type' : `header/ce-${escapePointer(member)}`;
}
