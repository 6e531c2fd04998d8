/**
 * A value after parsing. URI, Timestamp and Binary remain strings.
 */
export type AttributeValue = string | number | boolean;

/** The attributes of the specification, by number. Extensions have no number. */
export const core = {
  type: 1,
  source: 2,
  subject: 3,
  id: 4,
  specversion: 5,
  time: 6,
  datacontenttype: 7,
  dataschema: 8,
} as const;

/** By number minus one. */
export const coreNames = Object.keys(core);

/** The number of an attribute of the specification, or 0. The length alone distinguishes nearly all names. */
export function coreNumber(name: string): number {
  switch (name.length) {
    case 2:
      return name === 'id' ? core.id : 0;
    case 4:
      return name === 'type' ? core.type : name === 'time' ? core.time : 0;
    case 6:
      return name === 'source' ? core.source : 0;
    case 7:
      return name === 'subject' ? core.subject : 0;
    case 10:
      return name === 'dataschema' ? core.dataschema : 0;
    case 11:
      return name === 'specversion' ? core.specversion : 0;
    case 15:
      return name === 'datacontenttype' ? core.datacontenttype : 0;
    default:
      return 0;
  }
}

/** The string encoding of a value (CloudEvents, Type System): what filters compare and headers carry. */
export function canonicalString(value: AttributeValue): string {
  return typeof value === 'string' ? value : String(value);
}

/**
 * The context attributes of an event by name. Those of the specification are fields of a fixed shape, because reading a
 * field is a load and reading a Map is a hash. Only extensions are in a Map, which exists only if there are any.
 */
export class ContextAttributes {
  type: string | undefined = undefined;
  source: string | undefined = undefined;
  subject: string | undefined = undefined;
  id: string | undefined = undefined;
  specversion: string | undefined = undefined;
  time: string | undefined = undefined;
  datacontenttype: string | undefined = undefined;
  dataschema: string | undefined = undefined;
  extensions: Map<string, AttributeValue> | undefined = undefined;

  /** The value of an attribute of the specification, by its number. */
  ofCore(number: number): string | undefined {
    switch (number) {
      case core.type:
        return this.type;
      case core.source:
        return this.source;
      case core.subject:
        return this.subject;
      case core.id:
        return this.id;
      case core.specversion:
        return this.specversion;
      case core.time:
        return this.time;
      case core.datacontenttype:
        return this.datacontenttype;
      default:
        return this.dataschema;
    }
  }

  setCore(number: number, value: string): void {
    switch (number) {
      case core.type:
        this.type = value;
        break;
      case core.source:
        this.source = value;
        break;
      case core.subject:
        this.subject = value;
        break;
      case core.id:
        this.id = value;
        break;
      case core.specversion:
        this.specversion = value;
        break;
      case core.time:
        this.time = value;
        break;
      case core.datacontenttype:
        this.datacontenttype = value;
        break;
      default:
        this.dataschema = value;
    }
  }

  setExtension(name: string, value: AttributeValue): void {
    this.extensions ??= new Map<string, AttributeValue>();
    this.extensions.set(name, value);
  }

  get(name: string, number = coreNumber(name)): AttributeValue | undefined {
    return number === 0 ? this.extensions?.get(name) : this.ofCore(number);
  }

  /** The same in the string encoding. */
  text(name: string): string | undefined {
    const value = this.get(name);
    return value === undefined ? undefined : canonicalString(value);
  }

  has(name: string, number = coreNumber(name)): boolean {
    return this.get(name, number) !== undefined;
  }

  *[Symbol.iterator](): Generator<[string, AttributeValue]> {
    for (const [place, name] of coreNames.entries()) {
      const value = this.ofCore(place + 1);
      if (value !== undefined) yield [name, value];
    }
    yield* this.extensions ?? [];
  }
}

/** Attributes by name, as in the JSON format: null counts as absent. */
export function attributesOf(values: Readonly<Record<string, AttributeValue | null | undefined>>): ContextAttributes {
  const attributes = new ContextAttributes();
  for (const [name, value] of Object.entries(values)) {
    const number = coreNumber(name);
    if (value === null || value === undefined) continue;
    if (number === 0) attributes.setExtension(name, value);
    else attributes.setCore(number, canonicalString(value));
  }
  return attributes;
}
