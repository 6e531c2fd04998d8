import { computed, signal } from '@preact/signals';
import { type Language, languages, type Text } from '../../base/texts/text.js';

export type { Text };

const stored = 'assent.language';

/** The language of the console: what the user chose, or the first of the browser's that there is. */
export const language = signal<Language>(initial());

/** How dates and numbers are written: as the browser has it for this language, and else as in Europe. */
export const locale = computed(
  () =>
    navigator.languages.find((tag) => tag.startsWith(`${language.value}-`)) ??
    { en: 'en-GB', nl: 'nl-NL' }[language.value],
);

function initial(): Language {
  const wanted = [localStorage.getItem(stored), ...navigator.languages.map((tag) => tag.slice(0, 2))];
  return wanted.find((each): each is Language => languages.includes(each as Language)) ?? 'en';
}

export function chooseLanguage(chosen: Language): void {
  localStorage.setItem(stored, chosen);
  language.value = chosen;
  document.documentElement.lang = chosen;
}

/** The text in the language of the console. A component that calls it is drawn again when the language changes. */
export function t(text: Text): string {
  return text[language.value];
}

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export const formatNumber = (value: number) => value.toLocaleString(locale.value);

/** A time of the API as the value of an input of the type `datetime-local`, in the time zone of the browser. */
export function toLocalTime(time: string | undefined): string {
  const at = new Date(time ?? Number.NaN);
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** The other way. Undefined for what is no time. */
export function fromLocalTime(value: string): string | undefined {
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

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

/** What was done last, shown for a while and read out by screen readers. */
export const announcement = signal('');

let timer: ReturnType<typeof setTimeout> | undefined;

export function announce(text: string): void {
  announcement.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => (announcement.value = ''), 8_000);
}
