/** What an attribute can hold in JSON, apart from null; Binary, URI and Timestamp are strings there already. */
export type AttributeValue = string | number | boolean;

/**
 * The context attributes of an event as matching sees them: every value is the canonical string of the CloudEvents type
 * system (Integer 5 is "5", Boolean is "true"), an absent attribute is undefined. The attributes of the specification are
 * fields of one fixed shape, because a field costs a load where a Map costs a hash; only extensions are in a Map, and there
 * is none when there are no extensions.
 */
export class MatchEvent {
  constructor(
    readonly type: string | undefined,
    readonly source: string | undefined,
    readonly subject: string | undefined,
    readonly id: string | undefined,
    readonly specversion: string | undefined,
    readonly time: string | undefined,
    readonly datacontenttype: string | undefined,
    readonly dataschema: string | undefined,
    readonly extensions: ReadonlyMap<string, string> | undefined,
  ) {}

  /** The value of any attribute. `data` is none. */
  get(name: string): string | undefined {
    switch (name) {
      case 'type':
        return this.type;
      case 'source':
        return this.source;
      case 'subject':
        return this.subject;
      case 'id':
        return this.id;
      case 'specversion':
        return this.specversion;
      case 'time':
        return this.time;
      case 'datacontenttype':
        return this.datacontenttype;
      case 'dataschema':
        return this.dataschema;
      default:
        return this.extensions?.get(name);
    }
  }
}

/** The attributes that have a field of their own, in the order in which the match index numbers them. */
export const specifiedAttributes = [
  'type',
  'source',
  'subject',
  'id',
  'specversion',
  'time',
  'datacontenttype',
  'dataschema',
] as const;

const notExtensions: ReadonlySet<string> = new Set([...specifiedAttributes, 'data', 'data_base64']);

/** Makes an event of attributes by name, as the JSON format has them. A null is as if absent; data is left out. */
export function matchEvent(attributes: Readonly<Record<string, AttributeValue | null | undefined>>): MatchEvent {
  let extensions: Map<string, string> | undefined;
  for (const name of Object.keys(attributes)) {
    const value = notExtensions.has(name) ? undefined : canonical(attributes[name]);
    if (value !== undefined) (extensions ??= new Map<string, string>()).set(name, value);
  }
  return new MatchEvent(
    canonical(attributes['type']),
    canonical(attributes['source']),
    canonical(attributes['subject']),
    canonical(attributes['id']),
    canonical(attributes['specversion']),
    canonical(attributes['time']),
    canonical(attributes['datacontenttype']),
    canonical(attributes['dataschema']),
    extensions,
  );
}

/** The canonical string of a value (CloudEvents 1.0, "Type System"). */
export function canonical(value: AttributeValue | null | undefined): string | undefined {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? undefined : String(value);
}
