import type { Context } from '../context.js';
import { RegistryError } from '../../base/errors.js';
import { actorOf, type Handlers } from '../http/handler.js';
import { databaseTime } from '../storage/database.js';
import { putCertificate, readCertificate, removeCertificate } from './client-certificate.js';
import { findOrigin, lockOrigin } from './store.js';

type CertificateOperation = 'replaceClientCertificate' | 'deleteClientCertificate';

export function certificateRoutes({ database, vault }: Context): Handlers<CertificateOperation> {
  const nameOf = (call: { path: { name: string } }) => call.path.name.toLowerCase();
  return {
    replaceClientCertificate: async (call) => {
      await findOrigin(database.sql, call.principal.tenant, nameOf(call));
      const brought = readCertificate(call.body, await databaseTime(database.sql));
      if ('faults' in brought) {
        const detail = 'The client certificate is invalid. The faults say where, and why.';
        throw new RegistryError('invalid_request', detail, brought);
      }
      const body = await database.write(async (tx) => {
        const origin = await lockOrigin(tx.sql, call.principal.tenant, nameOf(call));
        return putCertificate(tx, vault, actorOf(call), origin.name, brought);
      });
      return { status: 200, body };
    },

    deleteClientCertificate: async (call) => {
      const body = await database.write(async (tx) => {
        const origin = await lockOrigin(tx.sql, call.principal.tenant, nameOf(call));
        return removeCertificate(tx, actorOf(call), origin.name);
      });
      return { status: 200, body };
    },
  };
}
