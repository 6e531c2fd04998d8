export type EventMembers = Readonly<Record<string, unknown>>;

/** The members of an event as JSON. Undefined if the text is not a JSON object. */
export function readEvent(text: string): EventMembers | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as EventMembers) : undefined;
  } catch {
    return undefined;
  }
}

/** The text with another value of an attribute; an empty value removes it. */
export function withAttribute(event: EventMembers, name: string, value: string): string {
  const { [name]: _before, ...others } = event;
  const isKnown = name in event;
  const changed = isKnown ? { ...event, [name]: value } : { ...others, [name]: value };
  return JSON.stringify(value === '' ? others : changed, null, 2);
}

/** The line, from 1, on which a member of the event begins. Undefined if the text does not have it. */
export function lineOf(text: string, pointer: string): number | undefined {
  const name = pointer.split('/')[1]?.replaceAll('~1', '/').replaceAll('~0', '~');
  if (name === undefined) return undefined;
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"(?=\s*(:)?)|[{}[\]]/g)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (depth === 1 && /^\s*:/.test(text.slice(index + token.length)) && token.slice(1, -1) === name) {
      return text.slice(0, index).split('\n').length;
    }
  }
  return undefined;
}
