import { useState } from 'preact/hooks';
import { announce, t } from '../../app/text.js';
import { api, type Schemas } from '../../app/api.js';
import { useAction, useKey, useResource } from '../../app/live.js';
import { dropDraft, useDraft } from '../../app/draft.js';
import { go, href } from '../../app/route.js';
import { originsTexts as texts } from '../../texts/origins.js';
import { Form, FormButtons, missing, ProblemView, ReferenceField, referenceHeader, TextField } from '../../ui/form.js';
import { changesOf, members, PolicyFields, typedOf, type PolicyMember, policyPointers } from './origin-policy.js';

/** What the registry takes if nothing is said: the first origin is the default. */
const initialOf = (isFirst: boolean) =>
  typedOf({
    isdefault: isFirst,
    defaultrate: 60,
    judgement: 'strict',
    callback: 'offer',
    signatures: 'dictionary',
    grantseconds: 864_000,
    profile: 'cloudevents',
    goneafter: 1,
  });

const shownFirst = ['description', 'isdefault'] as const;
const others = members.filter((member) => !(shownFirst as readonly string[]).includes(member));

export function NewOrigin() {
  const first = useResource('first origin', async (signal) => {
    const { data } = await api.GET('/origins', { params: { query: { limit: 1 } }, signal });
    return data.length === 0;
  });
  const [{ name, changed }, setDraft] = useDraft<{ name: string; changed: Partial<ReturnType<typeof initialOf>> }>(
    'origin',
    { name: '', changed: {} },
  );
  const setName = (text: string) => setDraft((before) => ({ ...before, name: text }));
  const setChanged = (next: typeof changed) => setDraft((before) => ({ ...before, changed: next }));
  const initial = initialOf(first.data ?? false);
  const typed = { ...initial, ...changed };
  const set = (next: typeof initial) =>
    setChanged(
      Object.fromEntries(Object.entries(next).filter(([member, text]) => text !== initial[member as PolicyMember])),
    );
  const [reference, setReference] = useState('');
  const keyOf = useKey();
  const action = useAction();
  const create = async () => {
    const given = Object.entries(changesOf(initial, typed)).filter(([, value]) => value !== null);
    const body = { name: name.trim(), ...Object.fromEntries(given) } as Schemas['OriginRequest'];
    const header = { 'Idempotency-Key': keyOf(body), ...referenceHeader(reference) };
    const { data } = await api.POST('/origins', { params: { header }, body });
    dropDraft('origin');
    announce(t(texts.created));
    go(href('origins', data.name));
  };
  return (
    <>
      <h1>{t(texts.create)}</h1>
      <Form action={action} check={() => missing({ '/name': [t(texts.name), name] })} isKept onSubmit={create}>
        <TextField
          label={t(texts.name)}
          hint={t(texts.nameHint)}
          problem={action.problem}
          pointer="/name"
          required
          spellcheck={false}
          autocapitalize="off"
          value={name}
          onInput={setName}
        />
        <PolicyFields of={shownFirst} typed={typed} onChange={set} problem={action.problem} />
        <details>
          <summary>{t(texts.policy)}</summary>
          <PolicyFields of={others} typed={typed} onChange={set} problem={action.problem} />
        </details>
        <ReferenceField problem={action.problem} value={reference} onInput={setReference} />
        <ProblemView problem={action.problem} shownAt={['/name', ...policyPointers, 'header/audit-reference']} />
        <FormButtons action={action} submit={t(texts.create)} cancel={href('origins')} />
      </Form>
    </>
  );
}
