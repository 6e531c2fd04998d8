/** The languages that consumers and webhook owners can read. */
export const languages = ['en', 'nl'] as const;
export type Language = (typeof languages)[number];

/** One text in every language. A text that does not exist in a language does not compile. */
export type Text = Readonly<Record<Language, string>>;

/** The text in this language. What only senders and operators read is a string, in English. */
export function textIn(text: string | Text, language: Language): string {
  return typeof text === 'string' ? text : text[language];
}

/** A text that is made of other texts. */
export function textOf(make: (language: Language) => string): Text {
  return { en: make('en'), nl: make('nl') };
}
