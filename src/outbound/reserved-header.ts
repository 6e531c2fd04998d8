/** Headers that the connection, the CloudEvent, the handshake and the signature set, and headers for credentials. */
const reserved = new RegExp(
  '^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|content-type' +
    '|content-digest|signature|signature-.*|authorization|cookie|expect|webhook-.*|ce-.*)$',
  'i',
);

/** Whether no setting of a subscription or a caller may name this header of a delivery. */
export const isReservedHeader = (name: string): boolean => reserved.test(name);
