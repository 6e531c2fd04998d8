import { escapePointer } from '../http/json.js';
import type { ContextAttributes } from './context-attributes.js';

export type Mode = 'structured' | 'batched' | 'binary';

/** `text` is a JSON string that holds no JSON object or array itself; `json_text` is one that does. */
export type DataForm = 'absent' | 'object' | 'array' | 'text' | 'json_text' | 'scalar' | 'base64' | 'body';

/** Which of the two members of a claim check `data` has, with a value of the right kind. */
export interface ClaimCheck {
  hasUri: boolean;
  hasContentType: boolean;
}

/**
 * What could be read of an event. Attributes at fault are left out, so that the rules of a profile can still judge the
 * others. The data itself is not kept.
 */
export interface EventParts {
  readonly mode: Mode;
  /** JSON pointer of the event in the message: '' or, in a batch, its place (`/3`). */
  readonly at: string;
  /** `datacontenttype` included; those that are null in JSON are absent. */
  readonly attributes: ContextAttributes;
  /** Names that are there with a value at fault, so that they do not count as missing; undefined in a CloudEvent. */
  readonly faulty: ReadonlySet<string> | undefined;
  /** Bytes of the event as it came; in binary mode of the headers that carry attributes, and the body. */
  readonly bytes: number;
  readonly hasData: boolean;
  /** Bytes of the data as it came: of the JSON value, of what the Base64 stands for, or of the body. */
  readonly dataBytes: number;
  /** Declared as JSON, or in JSON without any declaration (JSON format, section 3.1.1). */
  readonly dataIsJson: boolean;
  readonly dataForm: DataForm;
  readonly claimCheck: ClaimCheck | undefined;
  readonly datacontenttype: string | undefined;
}

/** An event that keeps every MUST of the CloudEvents specification: `readEvents` and `readEventOf` make no other. */
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
