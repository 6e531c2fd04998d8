import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

export const contract = fileURLToPath(new URL('../../../openapi/openapi.json', import.meta.url));
/** What a later version may return in place of each open value. */
export const later = 'of_a_later_version';

/** The names of the members whose values are open. A credential's type says which members it has, so it is closed. */
function openMembers(): Set<string> {
  const names = new Set<string>();
  const { components } = JSON.parse(readFileSync(contract, 'utf8')) as {
    components: { schemas: Record<string, object> };
  };
  const isOpen = (schema: unknown): boolean => {
    const { $ref: reference, ...own } = Object(schema) as { $ref?: string };
    return reference === undefined
      ? 'x-extensible-enum' in own
      : isOpen(components.schemas[reference.split('/').at(-1)!]);
  };
  JSON.stringify(components.schemas, (key, value: unknown) => {
    if (key === 'properties')
      for (const [name, member] of Object.entries(Object(value) as object)) if (isOpen(member)) names.add(name);
    return value;
  });
  names.delete('credentialtype');
  return names;
}

/** Passes each request on to a registry, and returns its response as a later version could. */
export async function startLaterVersion(registry: string): Promise<{ url: string; stop(): void }> {
  const open = openMembers();
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks = (await request.toArray()) as Buffer[];
    const { authorization = '', 'content-type': type } = request.headers;
    const answer = await fetch(`${registry}${request.url}`, {
      method: request.method!,
      headers: { authorization, ...(type === undefined ? {} : { 'content-type': type }) },
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    });
    const body: unknown = JSON.parse(await answer.text(), (name, value: unknown) =>
      open.has(name) && typeof value === 'string' ? later : value,
    );
    response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  }
  const server = createServer((request, response) => void answer(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, stop: () => void server.close() };
}
