import { useState } from 'preact/hooks';
import { api, type Problem } from '../../app/api.js';
import { useResource } from '../../app/resource.js';
import { isAdmin } from '../../app/session.js';
import { faultsAt } from '../../ui/field.js';
import { useFilterCheck, type Tested } from './filter-test.js';
import { emptyDraft, readDraft, type Draft, type Member } from './subscription-draft.js';

/** The state of the form: what was typed, and the faults of it that this page and the registry found so far. */
export function useSubscriptionForm(first: Draft = emptyDraft, refused?: Problem) {
  const [draft, setDraft] = useState(first);
  const { members, faults: own } = readDraft(draft);
  const { source, types, subject, filters } = members as Tested;
  const wanted: Tested = {
    ...(source && { source }),
    ...(types?.length && { types }),
    ...(subject && { subject }),
    ...(filters && { filters }),
  };
  const areFiltersRead = !own.some(({ pointer }) => pointer === '/filters');
  const check = useFilterCheck(areFiltersRead ? wanted : undefined, {
    ...(types?.[0] && { type: types[0] }),
    ...(source && { source }),
  });
  const origins = useResource('origins', async (signal) =>
    isAdmin.value ? (await api.GET('/origins', { params: { query: { limit: 200 } }, signal })).data : [],
  );
  const known = new Set(own.map(({ pointer }) => pointer));
  const others = [...check.faults.filter(({ pointer }) => !pointer.startsWith('/event')), ...(refused?.faults ?? [])];
  // The sink is the one member that has to be there: an empty one is no fault before the user sends it.
  const faults = [...own, ...others.filter(({ pointer }) => !known.has(pointer) && known.add(pointer))];
  return {
    draft,
    members,
    /** Faults that the page sees itself; with them there is nothing to send. */
    isReady: own.length === 0 && draft.sink !== '',
    faults,
    check,
    origins: (origins.data ?? []).map(({ name }) => name),
    setDraft,
    onInput: (member: Member, text: string) => setDraft((before) => ({ ...before, [member]: text })),
    hasFault: (pointer: string) => faultsAt(refused, pointer).length > 0,
  };
}
