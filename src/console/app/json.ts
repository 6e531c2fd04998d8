/**
 * JSON over several lines, to read and to edit. Marks of the writing direction are escaped: a name could otherwise change
 * the order in which the rest is shown.
 */
export function readableJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (mark) => {
    return `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
