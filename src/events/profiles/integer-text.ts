/** A signed 32-bit integer in the string encoding of the type system (CloudEvents, Type System, Integer). */
export function isIntegerText(text: string): boolean {
  return /^-?(?:0|[1-9][0-9]{0,9})$/.test(text) && Number(text) >= -0x8000_0000 && Number(text) <= 0x7fff_ffff;
}
