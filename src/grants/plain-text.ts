/** A character that is one byte and stands in JSON as it is: all that a URI is made of, as it is sent. */
export function isPlain(character: number): boolean {
  return character > 0x20 && character < 0x7f && character !== 0x22 && character !== 0x5c;
}

export function isPlainText(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) if (!isPlain(text.charCodeAt(i))) return false;
  return true;
}
