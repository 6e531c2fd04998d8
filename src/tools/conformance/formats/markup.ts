const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** For HTML and XML. Control characters, which XML cannot have, become spaces. */
export function escape(text: string): string {
  // eslint-disable-next-line no-control-regex -- these are the characters to replace
  const clean = text.toWellFormed().replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, ' ');
  return clean.replace(/[&<>"']/g, (character) => entities[character] as string);
}
