import { signal } from '@preact/signals';
import { languages, type Language, type Text } from '../../base/texts/text.js';

export type { Text };

const stored = 'assent.language';

/** The language of the console: what the user chose, or the first of the browser's that there is. */
export const language = signal<Language>(initial());

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

export const formatNumber = (value: number) => value.toLocaleString(language.value);
