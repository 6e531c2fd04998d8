/** Base64 with what every runtime has. Inputs are a few dozen bytes. */
export const base64Of = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

export const base64urlOf = (bytes: Uint8Array): string =>
  base64Of(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
