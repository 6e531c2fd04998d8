/** Bytes from a socket must not control a terminal. */
export function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
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
