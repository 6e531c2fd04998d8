import { presentHandshake } from '../handshake/presentation.js';
import type { HandshakeReader } from '../handshake/read-handshake.js';
import { parsePrefer, type Handlers } from '../http/handler.js';
import { pageHeaders, readListCursor } from '../http/page.js';
import { isUuid } from '../storage/ids.js';
import type { SubscriptionReader } from './read-subscription.js';
import { callerOf, type SubscriptionRoutes } from './routes.js';

type HandshakeOperation = 'getHandshakes' | 'startHandshake' | 'getHandshake';

export interface HandshakeRoutes extends Pick<SubscriptionRoutes, 'writer' | 'attend'> {
  reader: SubscriptionReader;
  handshakes: HandshakeReader;
}

/** The handshakes of a subscription: whoever may see the one may see the other. */
export function createHandshakeHandlers(routes: HandshakeRoutes): Handlers<HandshakeOperation> {
  const { reader, writer, handshakes, attend } = routes;
  return {
    getHandshakes: async ({ path, query, principal, address }) => {
      const subscription = await reader.read(principal, path.id);
      const after = readListCursor(query.cursor, address, isUuid);
      const page = await handshakes.list(subscription, after, query.limit ?? 50);
      const isAdmin = principal.scopes.has('assent:admin');
      return {
        status: 200,
        headers: pageHeaders(address, query, page.next),
        body: page.entries.map((handshake) => presentHandshake(handshake, isAdmin)),
      };
    },

    startHandshake: async (call) => {
      const { path, principal, header, signal } = call;
      const started = await writer.askAgain(callerOf(call), path.id, {
        tenant: principal.tenant,
        subscriber: principal.subscriber,
        key: header['idempotency-key'],
        operation: 'startHandshake',
        content: path.id,
      });
      if (started.handshake !== undefined) await attend(started.handshake, parsePrefer(header['prefer']), signal);
      const subscription = await reader.read(principal, path.id);
      const handshake = await handshakes.read(subscription, started.id);
      return {
        status: 201,
        headers: {
          Location: `${call.address}/${handshake.id}`,
          ...(started.replayed ? { 'Idempotency-Replayed': 'true' } : {}),
        },
        body: presentHandshake(handshake, principal.scopes.has('assent:admin')),
      };
    },

    getHandshake: async ({ path, principal }) => {
      const subscription = await reader.read(principal, path.id);
      const handshake = await handshakes.read(subscription, path.handshake);
      return { status: 200, body: presentHandshake(handshake, principal.scopes.has('assent:admin')) };
    },
  };
}
