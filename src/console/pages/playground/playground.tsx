import { signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { api, type Problem, type Schemas } from '../../app/api.js';
import { isBlock, useResource, useSettled } from '../../app/live.js';
import { href, route } from '../../app/route.js';
import { isAdmin, isConsumer } from '../../app/session.js';
import { t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { playgroundTexts as texts } from '../../texts/playground.js';
import { ProblemView, SelectField } from '../../ui/form.js';
import { Empty, Skeleton } from '../../ui/table.js';
import { useOrigins } from '../origins/use-origins.js';
import { EventEditor, type EventMembers, type Example, examples, readEvent } from './playground-event.js';
import { MatchView } from './playground-answer.js';

/** What was typed is still there after a look at another page. */
const draft = signal(JSON.stringify(examples.least, null, 2));
const chosenOrigin = signal('');

const usualProfile = 'cloudevents';

interface Result {
  event: EventMembers;
  answer: Schemas['MatchResult'];
}

/** An event, and beside it what the registry does with it: read again soon after each key, and after each change of the feed. */
export function Playground() {
  const origins = useOrigins();
  const rows = origins.data?.rows ?? [];
  const wanted = chosenOrigin.value || (route.value.query['origin'] ?? '');
  const origin = rows.find(({ name }) => name === wanted) ?? rows.find(({ isdefault }) => isdefault) ?? rows[0];
  const textOf = (name: string) => {
    const { profile = usualProfile } = rows.find((row) => row.name === name) ?? {};
    return profile === usualProfile ? name : `${name} (${profile})`;
  };
  const { result, problem, isBusy } = useMatch(origin?.name, draft.value);
  const isOfEvent = problem?.code === 'invalid_event' || (problem?.status === 400 && problem.faults !== undefined);
  const { warnings = [] } = (problem === undefined && result?.answer) || {};
  return (
    <>
      <div class="title">
        <h1>{t(commonTexts.menu.playground)}</h1>
        <p class="soft">{t(texts.lead)}</p>
      </div>
      <ProblemView problem={origins.problem} onRetry={origins.reload} />
      {origins.data !== undefined && origin === undefined && (
        <Empty title={t(texts.noOrigin)}>
          {isAdmin.value && (
            <a class="button first" href={href('new-origin')}>
              {t(texts.addOrigin)}
            </a>
          )}
        </Empty>
      )}
      {origin !== undefined && (
        <div class="beside">
          <div class="card">
            <div class="pair">
              <SelectField
                label={t(texts.origin)}
                value={origin.name}
                options={rows.map(({ name }) => name)}
                textOf={textOf}
                onChange={(name) => (chosenOrigin.value = name)}
              />
              <SelectField
                label={t(texts.example)}
                none={t(texts.chooseExample)}
                value=""
                options={Object.keys(examples) as Example[]}
                textOf={(name) => t(texts.examples[name])}
                onChange={(name) => (draft.value = JSON.stringify(examples[name], null, 2))}
              />
            </div>
            <EventEditor
              text={draft.value}
              onText={(text) => (draft.value = text)}
              extra={origin.profile === 'belgif' ? ['service'] : []}
              problem={isOfEvent ? problem : undefined}
            />
          </div>
          <div aria-busy={isBusy}>
            <ProblemView problem={isOfEvent ? undefined : problem} isRead />
            {problem !== undefined && result !== undefined && <p class="note open">{t(texts.lastGood)}</p>}
            {warnings.length > 0 && (
              <div class="note open">
                <div>
                  <h2>{t(texts.warnings)}</h2>
                  <ul>
                    {warnings.map(({ pointer, rule, detail }) => (
                      <li key={pointer + rule}>
                        <code>{pointer}</code> <bdi lang="en">{detail}</bdi>
                      </li>
                    ))}
                  </ul>
                </div>
              </div>
            )}
            {result === undefined && problem === undefined && <Skeleton />}
            {result !== undefined && <MatchView {...result} />}
          </div>
        </div>
      )}
    </>
  );
}

interface Settled {
  origin?: string | undefined;
  result?: Result;
  problem?: Problem | undefined;
}

/** The result for the last valid event, and the problem with the present one. Both stay until the next response. */
function useMatch(origin: string | undefined, text: string): Settled & { isBusy: boolean } {
  const asked = useSettled(text);
  const match = useResource(
    JSON.stringify([origin, asked]),
    async (signal): Promise<Result | undefined> => {
      if (origin === undefined) return undefined;
      // As it was typed: the registry says where it is wrong. Senders get no explanations.
      const { data } = await api.POST('/match', {
        params: { query: { origin, explain: isAdmin.value || isConsumer.value } },
        body: asked,
        bodySerializer: (body) => body as string,
        signal,
      });
      return { event: readEvent(asked) ?? {}, answer: data as Schemas['MatchResult'] };
    },
    (change) => isBlock(change) || change.origin === origin,
  );
  const settled = useRef<Settled>({});
  if (!match.isLoading) {
    const before = settled.current.origin === origin ? settled.current.result : undefined;
    const result = match.data ?? before;
    settled.current = { origin, ...(result && { result }), problem: match.problem };
  }
  return { ...settled.current, isBusy: text !== asked || match.isLoading };
}
