/** What the page that loads the console says about its registry. */
export interface ConsoleSettings {
  version: string;
  /** Prints a link that signs in, on the machine of a development registry. */
  developmentCommand?: string;
}

export const settings = JSON.parse(document.getElementById('settings')?.textContent ?? '{}') as ConsoleSettings;
