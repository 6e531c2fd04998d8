import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import dnsPacket from 'dns-packet';

/**
 * The addresses of a name (IPv4 and IPv6 mixed), or how the server misbehaves for it. Of a name that begins with an underscore,
 * its TXT records, with a line break between the strings of one.
 */
export type Zone = Record<string, readonly string[] | 'servfail' | 'silent'>;

export interface DnsServer {
  /** `ip:port`, as the settings need it. */
  address: string;
  /** Change it to change the next response. Other names do not exist. */
  zone: Zone;
  /** Answers for names outside the zone. */
  fallback: (name: string) => readonly string[] | undefined;
  /** The queries so far, such as `A hooks.example.com`. */
  questions: string[];
  stop(): Promise<void>;
}

/** A name server on a free UDP port of loopback. */
export async function startDnsServer(zone: Zone = {}): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const server: DnsServer = {
    address: '',
    zone,
    fallback: () => undefined,
    questions: [],
    async stop() {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
  socket.on('message', (message, from) => {
    const query = dnsPacket.decode(message);
    const [question] = query.questions ?? [];
    if (!question) return;
    const { name, type } = question;
    server.questions.push(`${type} ${name}`);
    const known = Object.hasOwn(server.zone, name) ? server.zone[name] : server.fallback(name);
    if (known === 'silent') return;
    const all = Array.isArray(known) ? (known as string[]) : [];
    const data = type === 'TXT' ? all : all.filter((ip) => ip.includes(':') === (type === 'AAAA'));
    const rcode = known === undefined ? 3 : known === 'servfail' ? 2 : 0;
    const reply = dnsPacket.encode({
      type: 'response',
      ...(query.id !== undefined && { id: query.id }),
      flags: dnsPacket.RECURSION_DESIRED | dnsPacket.RECURSION_AVAILABLE | rcode,
      questions: [question],
      answers: data.map((each) =>
        type === 'TXT'
          ? { type: 'TXT', name, ttl: 0, data: each.split('\n') }
          : { type: type === 'AAAA' ? 'AAAA' : 'A', name, ttl: 0, data: each },
      ),
    });
    socket.send(reply, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  server.address = `127.0.0.1:${socket.address().port}`;
  return server;
}
