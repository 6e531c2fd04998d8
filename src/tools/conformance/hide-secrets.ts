const hidden = '***';
const secretName = /authorization|cookie|token|secret|api-?key|signature/i;

/**
 * For reports: hides the values of headers that carry credentials, of `access_token` in queries, and `secrets` wherever
 * they stand. `head` is the head of a request or a response, with LF between lines.
 */
export function hideSecrets(head: string, secrets: readonly string[]): string {
  const lines = head.split('\n').map((line, index) => {
    const colon = index === 0 ? -1 : line.indexOf(':');
    return colon > 0 && secretName.test(line.slice(0, colon)) ? `${line.slice(0, colon)}: ${hidden}` : line;
  });
  return secrets
    .filter((secret) => secret !== '')
    .sort((a, b) => b.length - a.length)
    .reduce((text, secret) => text.replaceAll(secret, hidden), lines.join('\n'))
    .replace(/(?<=[?&]access_token=)[^&\s]*/g, hidden);
}

/** A URL with the values of its query hidden: functions in the cloud have their keys there. */
export function hideQuery(url: string): string {
  const [path = '', query] = url.split(/\?(.*)/s);
  return query === undefined ? url : `${path}?${query.replace(/(?<==)[^&]*/g, hidden)}`;
}
