/** A time of the API as the value of an input of the type `datetime-local`, in the time zone of the browser. */
export function toLocalTime(time: string | undefined): string {
  const at = new Date(time ?? Number.NaN);
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** The other way. Undefined for an empty input. */
export function fromLocalTime(value: string): string | undefined {
  return value === '' ? undefined : new Date(value).toISOString();
}
