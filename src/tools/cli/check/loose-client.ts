import type { Client } from '../../../kits/client/index.js';
import type { Operation } from '../resources/resource.js';
import type { Row } from '../resources/table.js';

/** What the client can do, with the paths of the table. */
export interface LooseClient {
  send(method: Operation['method'], path: string, init: Init): Promise<{ data: unknown; etag: string | undefined }>;
  pages(path: string, init: Init): AsyncGenerator<{ data: Row[]; next: string | undefined }, void>;
}

export interface Init {
  params: { path?: Row; query?: Row; header?: Record<string, string> };
  body?: unknown;
}

export const loose = (client: Client): LooseClient => ({
  send: (method, path, init) =>
    (client[method.toUpperCase() as 'GET'] as unknown as (path: string, init: Init) => ReturnType<LooseClient['send']>)(
      path,
      init,
    ),
  pages: (...asked) => (client as unknown as LooseClient).pages(...asked),
});
