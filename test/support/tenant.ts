import type { Client, Registry } from './registry.js';

/** Bodies of responses; already checked against the contract. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Body = any;

/** A tenant of a registry with a default origin: its clients, and their usual requests. */
export interface Tenant {
  origin: string;
  admin: Client;
  subscriber: Client;
  sender: Client;
  /** POST /v1/subscriptions; `prefer` says how long to wait. */
  register(sink: string, more?: object, prefer?: string): Promise<Body>;
  /** PUT, with the members that every subscription has; `prefer` as above. */
  replace(id: string, request: { sink: string; [member: string]: unknown }, prefer?: string): Promise<Body>;
  read(id: string): Promise<Body>;
  /** Newest first, as the subscriber or as an admin. */
  handshakes(id: string, client?: Client): Promise<Body[]>;
  permission(sink: string, origin?: string): Promise<Body>;
  /** The grant of a sink, as admins see it. */
  grant(sink: string): Promise<Body>;
  /** An admin revokes the grant of a sink. */
  revoke(sink: string): Promise<void>;
  /** A sender reports that the sink returned 410, for the default origin if none is named. */
  gone(sink: string, origin?: string): Promise<void>;
  /** The kinds of the changes of a sink that matter to senders, in order. */
  changes(sink: string): Promise<string[]>;
}

export async function createTenant(registry: Registry, policy: object = {}): Promise<Tenant> {
  const origin = 'eventemitter.example.com';
  const admin = await registry.as('assent:admin', { subscriber: 'beheer' });
  const subscriber = await registry.as('assent:subscribe');
  const sender = await registry.as('assent:deliver', { subscriber: 'mailroom' });
  await admin
    .post('/v1/origins')
    .send({ name: origin, isdefault: true, requestedrate: 120, ...policy })
    .expect(201);

  const grant = async (sink: string): Promise<Body> =>
    (await admin.get('/v1/grants').query({ sink }).expect(200)).body[0];
  return {
    origin,
    admin,
    subscriber,
    sender,
    grant,
    async register(sink, more = {}, prefer = 'wait=10') {
      const request = subscriber.post('/v1/subscriptions').set('Prefer', prefer);
      return (await request.send({ sink, protocol: 'HTTP', ...more }).expect(201)).body;
    },
    async replace(id, request, prefer = 'wait=5') {
      return (
        await subscriber
          .put(`/v1/subscriptions/${id}`)
          .set('Prefer', prefer)
          .send({ protocol: 'HTTP', ...request })
          .expect(200)
      ).body;
    },
    read: async (id) => (await subscriber.get(`/v1/subscriptions/${id}`).expect(200)).body,
    handshakes: async (id, client = subscriber) =>
      (await client.get(`/v1/subscriptions/${id}/handshakes`).expect(200)).body,
    permission: async (sink, name = origin) =>
      (await sender.get('/v1/permissions').query({ origin: name, sink }).expect(200)).body,
    async revoke(sink) {
      const { id } = await grant(sink);
      await admin.post(`/v1/grants/${id}/revoke`).send({ reason: 'The owner complained.' }).expect(200);
    },
    async gone(sink, name = origin) {
      await sender
        .post('/v1/deliveries/outcomes')
        .send([{ origin: name, sink, statuscode: 410 }])
        .expect(200);
    },
    async changes(sink) {
      const rows = await registry.sql<{ kind: string }>(
        `select kind from change where sink = $1 and kind not like 'handshake.%' order by position`,
        sink,
      );
      return rows.map(({ kind }) => kind);
    },
  };
}
