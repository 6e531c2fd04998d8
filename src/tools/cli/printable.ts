/** Bytes from a socket must not control a terminal. */
export function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}

/** What others wrote, such as a file, a name or a response, must not steer a terminal or write lines of its own. */ export function visible(
  line: string,
): string {
  return line.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** What went over the wire, for people: lines of the request behind `>`, of the response behind `<`. */
export function exchangeLines({ asked, body, answered }: Record<'asked' | 'body' | 'answered', string>): string[] {
  const lines = (text: string, mark: string) => text.split('\n').map((line) => `${mark} ${printable(line)}`.trimEnd());
  return [
    ...lines(asked, '>'),
    '>',
    ...(body === '' ? [] : lines(body, '>')),
    ...(answered === '' ? [] : lines(answered, '<')),
  ];
}
