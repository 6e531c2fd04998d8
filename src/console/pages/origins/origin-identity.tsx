import type { Schemas } from '../../app/api.js';
import { api } from '../../app/api.js';
import { readAll, useResource } from '../../app/live.js';
import { root } from '../../app/route.js';
import { t } from '../../app/text.js';
import type { Version } from '../../app/version.js';
import { identityTexts as texts } from '../../texts/identity.js';
import { Loaded } from '../../ui/form.js';
import { Copyable } from '../../ui/value.js';
import { ClientCertificate } from './client-certificate.js';
import { OriginKeys } from './origin-keys.js';
import { OriginProof } from './origin-proof.js';

type Origin = Schemas['Origin'];

const maxKeys = 1_000;

/** Who an origin is to webhooks: whether its name is proven, what signs for it, and what it shows in TLS. */
export function OriginIdentity({
  found,
  onChanged,
  reload,
}: {
  found: Version<Origin>;
  onChanged: (origin: Version<Origin>) => void;
  reload: () => void;
}) {
  const { name, signatures, verification } = found.value;
  const isOff = signatures === 'off';
  const keys = useResource(
    `keys of ${name}`,
    async (signal) => {
      const pages = api.pages('/origins/{name}/keys', { params: { path: { name } }, signal });
      return (await readAll(maxKeys, pages)).rows.reverse();
    },
    ({ kind, origin }) => kind.startsWith('origin.') && origin === name,
  );
  const changed = () => {
    keys.reload();
    reload();
  };
  return (
    <>
      <OriginProof found={found} onChanged={onChanged} />
      <div class="split">
        <div>
          <Loaded of={keys}>
            {(rows) => (
              <OriginKeys
                name={name}
                isOff={isOff}
                keys={rows}
                named={verification.by === 'dns' ? verification.keyid : undefined}
                reload={changed}
              />
            )}
          </Loaded>
          {!isOff && <Directory origin={found.value} keys={keys.data} />}
        </div>
        <ClientCertificate found={found} reload={reload} />
      </div>
    </>
  );
}

/** Where verifiers find the keys, and the same as a document for a server of one's own. */
function Directory({ origin: { directory: id, verification }, keys }: { origin: Origin; keys: unknown }) {
  const directory = useResource(`directory ${id} ${JSON.stringify(keys)}`, async (signal) => {
    const { data } = await api.GET('/directories/{id}', { params: { path: { id } }, cache: 'reload', signal });
    return data;
  });
  const url = new URL(`v1/directories/${id}`, root).href;
  return (
    <section aria-labelledby="directory">
      <h2 id="directory">{t(texts.directory)}</h2>
      <p class="soft">{t(texts.directoryHint)}</p>
      <Copyable text={url} label={t(texts.directoryUrl)} />
      <details>
        <summary>{t(texts.ownServer)}</summary>
        <p>{t(texts.ownServerHint(verification.directory))}</p>
        <Loaded of={directory}>
          {(document) => <Copyable text={JSON.stringify(document, undefined, 2)} label={t(texts.document)} />}
        </Loaded>
      </details>
    </section>
  );
}
