import { canonicalString, type AttributeValue, type CloudEvent } from '../events/cloud-event.js';
import { MatchEvent } from './match-event.js';

/** An event as matching sees it. CESQL looks at the values with their types; everything else at canonical strings. */
export class TypedMatchEvent extends MatchEvent {
  readonly attributes: ReadonlyMap<string, AttributeValue>;

  constructor({ attributes, extensions }: Pick<CloudEvent, 'attributes' | 'extensions'>) {
    const text = (name: string) => attributes.get(name) as string | undefined;
    let texts: Map<string, string> | undefined;
    for (const name of extensions) {
      (texts ??= new Map<string, string>()).set(name, canonicalString(attributes.get(name) as AttributeValue));
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
      texts,
    );
    this.attributes = attributes;
  }
}
