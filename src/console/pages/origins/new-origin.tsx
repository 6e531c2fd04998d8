import { useState } from 'preact/hooks';
import { announce, t } from '../../app/text.js';
import { api, newKey, type Schemas } from '../../app/api.js';
import { useAction } from '../../app/live.js';
import { go, href } from '../../app/route.js';
import { originsTexts as texts } from '../../texts/origins.js';
import { ProblemView, TextField, ReferenceField, referenceHeader, FormButtons } from '../../ui/form.js';
import { changesOf, PolicyFields, typedOf } from './origin-policy.js';

const initial = typedOf({
  isdefault: false,
  defaultrate: 60,
  judgement: 'strict',
  callback: 'offer',
  leaseseconds: 864_000,
  profile: 'cloudevents',
  goneafter: 1,
});

export function NewOrigin() {
  const [name, setName] = useState('');
  const [typed, setTyped] = useState(initial);
  const [reference, setReference] = useState('');
  const [key, setKey] = useState(newKey);
  const action = useAction();
  const create = async () => {
    const given = Object.entries(changesOf(initial, typed)).filter(([, value]) => value !== null);
    const body = { name: name.trim(), ...Object.fromEntries(given) } as Schemas['OriginRequest'];
    const header = { 'Idempotency-Key': key, ...referenceHeader(reference) };
    const { data } = await api.POST('/origins', { params: { header }, body });
    announce(t(texts.created));
    go(href('origins', data.name));
  };
  const change = () => setKey(newKey());
  return (
    <>
      <h1>{t(texts.create)}</h1>
      <form
        onInput={change}
        onSubmit={(event) => {
          event.preventDefault();
          void action.run(create);
        }}
      >
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
        <details>
          <summary>{t(texts.policy)}</summary>
          <PolicyFields typed={typed} onChange={setTyped} problem={action.problem} />
        </details>
        <ReferenceField value={reference} onInput={setReference} />
        <ProblemView problem={action.problem} shownAt={['/name']} />
        <FormButtons action={action} submit={t(texts.create)} cancel={href('origins')} />
      </form>
    </>
  );
}
