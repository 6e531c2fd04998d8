import { api, type Schemas } from '../../app/api.js';
import { readAll, useResource, type Everything, type LoadedResource } from '../../app/live.js';

const maxOrigins = 1_000;

/** The origins of the tenant, which consumers and senders may see, too. */
export const useOrigins = (): LoadedResource<Everything<Schemas['Origin']>> =>
  useResource(
    'origins',
    (signal) => readAll(maxOrigins, api.pages('/origins', { signal })),
    ({ kind }) => kind.startsWith('origin.'),
  );

export const defaultOf = (origins: ReadonlyArray<Schemas['Origin']>): string | undefined =>
  origins.find(({ isdefault }) => isdefault)?.name;
