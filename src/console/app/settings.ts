/** An issuer that the console can sign in with, and what the browser needs of its metadata. */
export interface Issuer {
  issuer: string;
  clientid: string;
  scope: string;
  authorization_endpoint: string;
  token_endpoint: string;
  authorization_response_iss_parameter_supported: boolean;
  id_token_signing_alg_values_supported?: string[];
}

/** What the page that loads the console says about its registry. */
export interface ConsoleSettings {
  version: string;
  /** Prints a link that signs in, on the machine of a development registry. */
  developmentCommand?: string;
  issuers: readonly Issuer[];
}

export const settings = JSON.parse(document.getElementById('settings')?.textContent ?? '{}') as ConsoleSettings;
