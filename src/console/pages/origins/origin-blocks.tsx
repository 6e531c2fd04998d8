import { api } from '../../app/api.js';
import { useResource } from '../../app/resource.js';
import { href } from '../../app/route.js';
import { t } from '../../app/text.js';
import { originsTexts as texts } from '../../texts/origins.js';
import { Loaded } from '../../ui/problem.js';
import { Time } from '../../ui/time.js';
import { LiftBlock } from '../blocks/block-lift.js';

/** Stop and start: the blocks of the kind `origin`. Those that stop its tenant or a webhook are on the page Blocks. */
export function OriginBlocks({ name }: { name: string }) {
  const blocks = useResource(
    `blocks of ${name}`,
    async (signal) =>
      (await api.GET('/blocks', { params: { query: { kind: 'origin', value: name, limit: 200 } }, signal })).data,
    ({ kind }) => kind.startsWith('origin.'),
  );
  return (
    <section aria-labelledby="stopping">
      <h2 id="stopping">{t(texts.stopping)}</h2>
      <Loaded of={blocks}>
        {(rows) => (
          <>
            {rows.length === 0 && (
              <>
                <p>{t(texts.running)}</p>
                <a class="button" href={href('new-block', undefined, { kind: 'origin', value: name })}>
                  {t(texts.stop)}
                </a>
              </>
            )}
            {rows.length > 0 && <p class="note">{t(texts.stopped)}</p>}
            {rows.map((block) => (
              <div key={block.id} class="actions">
                <span>
                  <a href={href('blocks', block.id)}>
                    <bdi>{block.reason}</bdi>
                  </a>{' '}
                  <bdi>{block.createdby}</bdi>, <Time at={block.createdat} />
                </span>
                <LiftBlock block={block} onLifted={blocks.reload} />
              </div>
            ))}
          </>
        )}
      </Loaded>
    </section>
  );
}
