import { api, type Schemas } from '../../app/api.js';

/** An origin with its version, for `If-Match`. */
export interface Versioned {
  origin: Schemas['Origin'];
  etag: string;
}

export async function readOrigin(name: string, signal?: AbortSignal): Promise<Versioned> {
  const { data, etag = '' } = await api.GET('/origins/{name}', {
    params: { path: { name } },
    ...(signal && { signal }),
  });
  return { origin: data, etag };
}
