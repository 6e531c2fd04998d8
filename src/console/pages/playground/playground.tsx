import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, type Problem, type Schemas } from '../../app/api.js';
import { isBlock, readAll, useResource } from '../../app/live.js';
import { route } from '../../app/route.js';
import { isAdmin, isConsumer } from '../../app/session.js';
import { t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { playgroundTexts as texts } from '../../texts/playground.js';
import { ProblemView, SelectField } from '../../ui/form.js';
import { useOrigins } from '../origins/use-origins.js';
import { EventEditor, type EventMembers, examples, readEvent } from './playground-event.js';
import { MatchView } from './playground-answer.js';

/** What was typed is still there after a look at another page. */
const draft = signal(JSON.stringify(examples.least, null, 2));
const chosenOrigin = signal('');

const pauseMs = 350;
/** The registry explains no more. */
const maxExplained = 1_000;

interface Result {
  event: EventMembers;
  answer: Schemas['MatchResult'];
}

/** An event, and what the registry does with it: read again soon after each key, and after each change of the feed. */
export function Playground() {
  const origins = useOrigins();
  const rows = origins.data?.rows ?? [];
  const wanted = chosenOrigin.value || (route.value.query['origin'] ?? '');
  const origin = rows.find(({ name }) => name === wanted) ?? rows.find(({ isdefault }) => isdefault) ?? rows[0];
  const textOf = (name: string) => {
    const { profile, isdefault } = rows.find((row) => row.name === name) ?? {};
    return `${name} (${profile}${isdefault ? `, ${t(texts.defaultOrigin)}` : ''})`;
  };
  const { result, problem } = useMatch(origin?.name, draft.value);
  const subscriptions = useSubscriptions(origin?.name);
  const isOfEvent = problem?.code === 'invalid_event' || (problem?.status === 400 && problem.faults !== undefined);
  return (
    <>
      <h1>{t(commonTexts.menu.playground)}</h1>
      <p>{t(texts.lead)}</p>
      <ProblemView problem={origins.problem} onRetry={origins.reload} />
      <div class="filters">
        <SelectField
          label={t(texts.origin)}
          value={origin?.name}
          options={rows.map(({ name }) => name)}
          textOf={textOf}
          onChange={(name) => (chosenOrigin.value = name)}
        />
      </div>
      <EventEditor
        text={draft.value}
        onText={(text) => (draft.value = text)}
        extra={origin?.profile === 'belgif' ? ['service'] : []}
        problem={isOfEvent ? problem : undefined}
      />
      <ProblemView problem={isOfEvent ? undefined : problem} isRead />
      {problem !== undefined && result !== undefined && <p class="note">{t(texts.lastGood)}</p>}
      {problem === undefined && (result?.answer.warnings ?? []).length > 0 && (
        <div class="note">
          <p>{t(texts.warnings)}</p>
          <ul>
            {result?.answer.warnings?.map(({ pointer, rule, detail }) => (
              <li key={pointer + rule}>
                <code>{pointer}</code> <bdi lang="en">{detail}</bdi>
              </li>
            ))}
          </ul>
        </div>
      )}
      {result !== undefined && <MatchView {...result} subscriptions={subscriptions} />}
    </>
  );
}

/** The result for the last valid event, and the problem with the present one. Both stay until the next response. */
function useMatch(origin: string | undefined, text: string): { result?: Result; problem?: Problem | undefined } {
  const [asked, setAsked] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  const match = useResource(
    JSON.stringify([origin, asked]),
    async (signal): Promise<Result | undefined> => {
      if (origin === undefined) return undefined;
      // As it was typed: the registry says where it is wrong.
      const { data } = await api.POST('/match', {
        params: { query: { origin, explain: true } },
        body: asked,
        bodySerializer: (body) => body as string,
        signal,
      });
      return { event: readEvent(asked) ?? {}, answer: data as Schemas['MatchResult'] };
    },
    (change) => isBlock(change) || change.origin === origin,
  );
  const settled = useRef<{ origin?: string | undefined; result?: Result; problem?: Problem | undefined }>({});
  if (!match.isLoading) {
    const before = settled.current.origin === origin ? settled.current.result : undefined;
    const result = match.data ?? before;
    settled.current = { origin, ...(result && { result }), problem: match.problem };
  }
  return settled.current;
}

/** To show what a condition says, and the rate and the end to consumers. Senders may not read subscriptions. */
function useSubscriptions(origin: string | undefined): ReadonlyMap<string, Schemas['Subscription']> {
  const mayRead = isAdmin.value || isConsumer.value;
  const list = useResource(
    JSON.stringify([origin, mayRead]),
    async (signal) => {
      if (origin === undefined || !mayRead) return new Map<string, Schemas['Subscription']>();
      const { rows } = await readAll(
        maxExplained,
        api.pages('/subscriptions', { params: { query: { origin } }, signal }),
      );
      return new Map(rows.map((subscription) => [subscription.id, subscription]));
    },
    (change) => change.origin === origin && change.kind.startsWith('subscription.'),
  );
  return list.data ?? new Map();
}
