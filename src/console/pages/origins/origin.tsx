import { useState } from 'preact/hooks';
import { useResource } from '../../app/resource.js';
import { href } from '../../app/route.js';
import { isAdmin } from '../../app/session.js';
import { t } from '../../app/text.js';
import { originsTexts as texts } from '../../texts/origins.js';
import { Loaded } from '../../ui/problem.js';
import { DeleteOrigin, MakeDefault } from './origin-actions.js';
import { OriginBlocks } from './origin-blocks.js';
import { EditPolicy } from './origin-edit.js';
import { OriginPolicy } from './origin-policy.js';
import { OriginRules } from './origin-rules.js';
import { readOrigin } from './read-origin.js';

export function OneOrigin({ name }: { name: string }) {
  const [isEdited, setEdited] = useState(false);
  const read = useResource(
    `origin ${name}`,
    (signal) => readOrigin(name, signal),
    ({ kind, origin }) => kind.startsWith('origin.') && origin === name,
  );
  const back = (
    <p>
      <a href={href('origins')}>{t(texts.back)}</a>
    </p>
  );
  if (read.problem?.code === 'origin_not_found') {
    return (
      <>
        <h1>
          <bdi>{name}</bdi>
        </h1>
        <p class="note">{t(texts.gone)}</p>
        {back}
      </>
    );
  }
  return (
    <>
      <h1>
        <bdi>{name}</bdi>
      </h1>
      <Loaded of={read}>
        {(found) => (
          <>
            <p class="actions">
              <a class="button" href={href('subscriptions', undefined, { origin: name })}>
                {t(texts.subscriptions)}
              </a>
              {isAdmin.value && (
                <a class="button" href={href('audit', undefined, { target: `origin:${name}` })}>
                  {t(texts.history)}
                </a>
              )}
            </p>
            <h2>{t(texts.policy)}</h2>
            {isEdited ? (
              <EditPolicy
                opened={found}
                onDone={() => {
                  setEdited(false);
                  read.reload();
                }}
              />
            ) : (
              <>
                <OriginPolicy origin={found.origin} />
                {isAdmin.value && (
                  <div class="actions">
                    <button type="button" onClick={() => setEdited(true)}>
                      {t(texts.edit)}
                    </button>
                    {!found.origin.isdefault && <MakeDefault name={name} onDone={read.reload} />}
                    <DeleteOrigin found={found} />
                  </div>
                )}
              </>
            )}
            {isAdmin.value && (
              <>
                <OriginBlocks name={name} />
                <OriginRules found={found} onSaved={read.reload} />
              </>
            )}
          </>
        )}
      </Loaded>
      {back}
    </>
  );
}
