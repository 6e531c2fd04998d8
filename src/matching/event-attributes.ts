import { canonicalString, type AttributeValue, type CloudEvent } from '../events/cloud-event.js';
import { MatchEvent } from './match-event.js';

const specified = new Set(['type', 'source', 'subject', 'id', 'specversion', 'time', 'datacontenttype', 'dataschema']);

/** An event as matching sees it. CESQL looks at the values with their types; everything else at canonical strings. */
export class TypedMatchEvent extends MatchEvent {
  readonly attributes: ReadonlyMap<string, AttributeValue>;

  constructor({ attributes }: Pick<CloudEvent, 'attributes'>) {
    const text = (name: string) => attributes.get(name) as string | undefined;
    let extensions: Map<string, string> | undefined;
    for (const [name, value] of attributes) {
      if (!specified.has(name)) (extensions ??= new Map<string, string>()).set(name, canonicalString(value));
    }
    super(
      text('type'),
      text('source'),
      text('subject'),
      text('id'),
      text('specversion'),
      text('time'),
      text('datacontenttype'),
      text('dataschema'),
      extensions,
    );
    this.attributes = attributes;
  }
}
