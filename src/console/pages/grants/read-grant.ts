import { api, type Schemas } from '../../app/api.js';
import type { Version } from '../../app/version.js';

export const isHeld = (until: string | undefined): boolean => until !== undefined && Date.parse(until) > Date.now();

export async function readGrant(id: string, signal?: AbortSignal): Promise<Version<Schemas['Grant']>> {
  const { data, etag = '' } = await api.GET('/grants/{id}', { params: { path: { id } }, ...(signal && { signal }) });
  return { value: data, tag: etag };
}
