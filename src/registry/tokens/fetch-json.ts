import { request } from 'undici';
import type { TrustedRoute } from '../../outbound/trusted-route.js';

const maxBytes = 256 * 1024;

/**
 * A JSON document of an issuer. `url` is from the operator's configuration, so it is trusted. `timeoutMs` is for a whole
 * fetch, from the name look-up to the last byte; `accept` is the media types. Rejects unless the status is 200. Follows no
 * redirects and unpacks no compressed bodies, so the limits apply to the bytes that are read.
 */
export async function fetchJson(
  url: string,
  { timeoutMs, accept, route }: { timeoutMs: number; accept: string; route: TrustedRoute | undefined },
): Promise<unknown> {
  const signal = AbortSignal.timeout(timeoutMs);
  const dispatcher = await route?.(url);
  const { statusCode, body } = await request(url, {
    signal,
    ...(dispatcher !== undefined && { dispatcher }),
    headers: { accept },
    reset: true,
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`The document is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  if (statusCode !== 200) throw new Error(`The URL returned ${statusCode}.`);
  return JSON.parse(Buffer.concat(chunks).toString());
}
