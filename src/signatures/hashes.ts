/** SHA-256, and HMAC with it. */
export interface Hashes {
  sha256(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
  hmac(key: Uint8Array<ArrayBuffer>, bytes: Uint8Array<ArrayBuffer>): Uint8Array | Promise<Uint8Array>;
}

/** Every runtime has these. They cost a thread and promises for each call: a process on Node that signs much has its own. */
export const webHashes: Hashes = {
  sha256: async (bytes) => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)),
  async hmac(secret, bytes) {
    const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    return new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes));
  },
};
