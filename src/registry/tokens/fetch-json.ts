import { request } from 'undici';
import { decode, withoutCoding } from '../../base/content-coding.js';
import type { TrustedRoute } from '../../outbound/trusted-route.js';

const maxBytes = 256 * 1024;

/**
 * A JSON document of an issuer. `url` is from the operator's configuration, so it is trusted. `timeoutMs` is for a whole
 * fetch, from the name look-up to the last byte; `accept` is the media types. Rejects unless the status is 200. Follows no
 * redirects. What the server compresses unasked is unpacked up to the same limit.
 */
export async function fetchJson(
  url: string,
  { timeoutMs, accept, route }: { timeoutMs: number; accept: string; route: TrustedRoute | undefined },
): Promise<unknown> {
  const signal = AbortSignal.timeout(timeoutMs);
  const dispatcher = await route?.(url);
  const { statusCode, headers, body } = await request(url, {
    signal,
    ...(dispatcher !== undefined && { dispatcher }),
    headers: { accept, ...withoutCoding },
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
  const decoded = await decode(Buffer.concat(chunks), headers['content-encoding']?.toString(), maxBytes);
  if (!decoded.ok) throw new Error(decoded.detail);
  return JSON.parse(decoded.body.toString());
}
