import type { Context } from '../context.js';
import { RegistryError, type Fault } from '../../base/errors.js';
import type { components } from '../../base/contract/contract.gen.js';
import { isUuid } from '../../base/files/ids.js';
import { isObject } from '../../base/formats/json.js';
import { timeOf } from '../../base/formats/timestamp.js';
import { keyTexts } from '../../base/texts/origins.js';
import { requestTexts } from '../../base/texts/requests.js';
import { publicKeyOf, type PublicKey } from '../../signatures/keys.js';
import { actorOf, idempotent, replayHeader, type Handlers } from '../http/handler.js';
import { pageHeaders, readListCursor } from '../http/page.js';
import { trusted } from '../storage/columns.js';
import { openCertificateOf } from './client-certificate.js';
import { findDirectory } from './directory.js';
import { readKeySet } from './key-set.js';
import { createKeyStore, type NewKey, type StoredKey } from './key-store.js';
import { agentOf, privateJwkOf } from './keys.js';
import { findOrigin, lockOrigin } from './store.js';

type KeyOperation =
  'listOriginKeys' | 'createOriginKey' | 'getOriginKey' | 'revokeOriginKey' | 'getPrivateKeys' | 'getDirectory';

type KeyRequest = components['schemas']['OriginKeyRequest'];

export function keyRoutes({
  database,
  config,
  vault,
  signers,
  faultOfSink,
  readDocument,
}: Pick<
  Context,
  'database' | 'config' | 'vault' | 'signers' | 'faultOfSink' | 'readDocument'
>): Handlers<KeyOperation> {
  const keys = createKeyStore(database, vault);
  const nameOf = (call: { path: { name: string } }) => call.path.name.toLowerCase();

  /** Reads a set before the transaction that stores it. */
  async function newKeyOf({ publickey, jwksuri }: KeyRequest, signal: AbortSignal): Promise<NewKey> {
    if (publickey !== undefined && jwksuri !== undefined)
      throw refused('/jwksuri', 'value_not_allowed', keyTexts.oneOf);
    if (publickey !== undefined) return { kind: 'brought', publicKey: await readPublicKey(publickey) };
    if (jwksuri === undefined) return { kind: 'made' };
    const fault = faultOfSink(jwksuri);
    if (fault !== undefined) throw invalid([{ pointer: '/jwksuri', ...fault }]);
    const read = await readKeySet(readDocument, jwksuri, signal);
    if (!read.ok) throw refused('/jwksuri', 'key_set_unusable', keyTexts.setUnusable(read.code));
    return { kind: 'jwks', uri: jwksuri, keys: read.keys };
  }

  return {
    listOriginKeys: async (call) => {
      const { query, principal, address } = call;
      const after = readListCursor(query.cursor, address, isUuid);
      const page = await keys.list(principal.tenant, nameOf(call), { after, limit: query.limit ?? 50 });
      return {
        status: 200,
        headers: pageHeaders(address, query, page.next),
        body: page.entries.map((key) => present(key)),
      };
    },

    createOriginKey: async (call) => {
      const name = nameOf(call);
      const body = call.body ?? {};
      await findOrigin(database.sql, call.principal.tenant, name);
      const times = {
        startsAt: body.startsat === undefined ? undefined : new Date(timeOf(body.startsat)),
        endsAt: body.endsat === undefined ? undefined : new Date(timeOf(body.endsat)),
        overlapSeconds: body.overlapseconds,
      };
      const request = idempotent(call, 'createOriginKey', { name, ...body });
      const { key, replayed } = await keys.add(actorOf(call), name, await newKeyOf(body, call.signal), times, request);
      return {
        status: 201,
        headers: { Location: `${call.address}/${key.id}`, ...replayHeader(replayed) },
        body: present(key),
      };
    },

    getOriginKey: async (call) => ({
      status: 200,
      body: present(await keys.read(call.principal.tenant, nameOf(call), call.path.id)),
    }),

    revokeOriginKey: async (call) => {
      const name = nameOf(call);
      const { id } = call.path;
      const request = idempotent(call, 'revokeOriginKey', [name, id]);
      const { key, replayed, isLast } = await keys.revoke(actorOf(call), name, id, request);
      return {
        status: 200,
        headers: replayHeader(replayed),
        body: { ...present(key), ...(isLast && { nothingsigns: true }) },
      };
    },

    getPrivateKeys: (call) =>
      database.write(async (tx) => {
        // Locked: the name cannot move to another tenant between these statements.
        const origin = await lockOrigin(tx.sql, call.principal.tenant, nameOf(call));
        const opened = await signers.ofOrigin(tx.sql, origin.name);
        const clientcertificate = await openCertificateOf(tx.sql, vault, origin.name);
        tx.audit(actorOf(call), 'origin.keys_read', `origin:${origin.name}`, {
          keyids: opened.map(({ keyid }) => keyid),
        });
        return {
          status: 200,
          body: {
            origin: origin.name,
            signatures: origin.signatures,
            agent: agentOf(origin, config.publicUrl),
            keys: opened.map(({ id, keyid, startsAt, endsAt, privateKey }) => ({
              id,
              keyid,
              startsat: startsAt.toISOString(),
              ...(endsAt && { endsat: endsAt.toISOString() }),
              jwk: privateJwkOf(privateKey),
            })),
            ...(clientcertificate && { clientcertificate }),
          },
        };
      }),

    getDirectory: async ({ path: { id } }) => {
      const directory = isUuid(id) ? await findDirectory(database.sql, { id }) : undefined;
      if (directory === undefined) throw new RegistryError('not_found', requestTexts.notFound);
      return { status: 200, body: directory.keySet };
    },
  };
}

/** The members of private keys of every kind (RFC 7518, section 6; RFC 8037, section 2). */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

async function readPublicKey(jwk: object): Promise<PublicKey> {
  const given = privateMembers.filter((name) => isObject(jwk) && Object.hasOwn(jwk, name));
  if (given.length > 0) {
    throw invalid(
      given.map((name) => ({ pointer: `/publickey/${name}`, rule: 'private_member', detail: keyTexts.privateMember })),
    );
  }
  const key = await publicKeyOf(jwk);
  if (key === undefined) throw refused('/publickey', 'key_not_supported', keyTexts.notSupported);
  return key;
}

const refused = (pointer: string, rule: Fault['rule'], detail: Fault['detail']) => invalid([{ pointer, rule, detail }]);

function invalid(faults: Fault[]): RegistryError {
  return new RegistryError('invalid_request', keyTexts.invalid, { faults });
}

function present(key: StoredKey): components['schemas']['OriginKey'] {
  const publicKey = trusted<PublicKey | undefined>(key.publickey);
  const set = trusted<PublicKey[] | undefined>(key.jwks);
  const { kind, jwksuri, readat, readcode, endsat, revokedat } = key;
  return {
    id: key.id,
    kind: trusted(kind),
    state: key.state,
    ...(publicKey && { keyid: publicKey.kid, publickey: publicKey }),
    ...(jwksuri !== null && { jwksuri, keys: set ?? [] }),
    ...(readat && { readat: readat.toISOString() }),
    ...(readcode !== null && { readcode }),
    startsat: key.startsat.toISOString(),
    ...(endsat && { endsat: endsat.toISOString() }),
    ...(revokedat && { revokedat: revokedat.toISOString() }),
    createdat: key.createdat.toISOString(),
    createdby: key.createdby,
    ...(key.createdbyperson !== null && { createdbyperson: trusted(key.createdbyperson) }),
  };
}
