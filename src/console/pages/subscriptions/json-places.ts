/**
 * Where the value at a JSON pointer stands in a text of valid JSON, as offsets: for a missing member, that of the object
 * around it. Undefined for a text that is no JSON.
 */
export function placeOf(text: string, pointer: string): { from: number; to: number } | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const places = placesIn(text);
  for (let path = pointer; ; path = path.slice(0, path.lastIndexOf('/'))) {
    const found = places.get(path);
    if (found !== undefined || path === '') return found;
  }
}

/** The line of an offset, from 1. */
export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

function placesIn(text: string): Map<string, { from: number; to: number }> {
  const places = new Map<string, { from: number; to: number }>();
  let at = 0;
  const skip = (pattern: RegExp) => {
    pattern.lastIndex = at;
    at = pattern.test(text) ? pattern.lastIndex : at;
  };
  const space = /\s*/y;
  const string = /"(?:[^"\\]|\\.)*"/y;
  const other = /[^\s,\]}]+/y;
  const read = (pointer: string) => {
    skip(space);
    const from = at;
    const open = text[at];
    if (open === '{' || open === '[') {
      at += 1;
      skip(space);
      for (let index = 0; text[at] !== '}' && text[at] !== ']'; index += 1) {
        let name = String(index);
        if (open === '{') {
          const start = at;
          skip(string);
          name = (JSON.parse(text.slice(start, at)) as string).replaceAll('~', '~0').replaceAll('/', '~1');
          skip(space);
          at += 1;
        }
        read(`${pointer}/${name}`);
        skip(space);
        if (text[at] === ',') at += 1;
        skip(space);
      }
      at += 1;
    } else skip(open === '"' ? string : other);
    places.set(pointer, { from, to: at });
  };
  read('');
  return places;
}
