import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import { createAuthority } from './certificates.js';

/** Terminates TLS for plain HTTP servers and forwards every byte. Each server has its own host name. */
export interface TlsFront {
  /** Settings of a registry that trusts it. */
  env: { ASSENT_SINK_CA_FILE: string; ASSENT_SINK_PORTS: string };
  /** The sink for an HTTP address, under its own host name. */
  sink(host: string, address: string): string;
  stop(): Promise<void>;
}

/** `hosts` are the names in its certificate, such as `*.hooks.test`. */
export async function startTlsFront(hosts: string): Promise<TlsFront> {
  const authority = await createAuthority();
  const ports = new Map<string, number>();
  const server = createServer(await authority.issue([hosts]), (socket: TLSSocket) => {
    const behind = connect(ports.get(socket.servername || '') ?? 0, '127.0.0.1');
    socket.on('error', () => behind.destroy()).on('close', () => behind.destroy());
    behind.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.pipe(behind).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const folder = await mkdtemp(join(tmpdir(), 'assent-front-'));
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, authority.cert);
  return {
    env: { ASSENT_SINK_CA_FILE: caFile, ASSENT_SINK_PORTS: `443,${port}` },
    sink(host, address) {
      const behind = new URL(address);
      ports.set(host, Number(behind.port));
      return `https://${host}:${port}${behind.pathname}`;
    },
    async stop() {
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
