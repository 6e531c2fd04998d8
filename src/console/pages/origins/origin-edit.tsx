import { useState } from 'preact/hooks';
import { announce } from '../../app/announce.js';
import { api } from '../../app/api.js';
import { useAction } from '../../app/resource.js';
import { t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { policyTexts } from '../../texts/origin-policy.js';
import { originsTexts as texts } from '../../texts/origins.js';
import { ProblemView } from '../../ui/problem.js';
import { ReferenceField, referenceHeader } from '../../ui/reference.js';
import { readOrigin, type Versioned } from './read-origin.js';
import { PolicyFields, changesOf, members, policyPointers, typedOf, type Member } from './policy-fields.js';

/**
 * Changes only the members that were edited. If another admin was faster, the form keeps them, takes over the others, and
 * shows what is different.
 */
export function EditPolicy({ opened, onDone }: { opened: Versioned; onDone: () => void }) {
  const [base, setBase] = useState(opened);
  const [typed, setTyped] = useState(() => typedOf(opened.origin));
  const [others, setOthers] = useState<ReadonlyArray<{ member: Member; before: string; after: string }>>([]);
  const [reference, setReference] = useState('');
  const action = useAction();
  const { name } = base.origin;

  const save = async () => {
    const body = changesOf(typedOf(base.origin), typed);
    if (Object.keys(body).length === 0) return announce(t(texts.unchanged));
    const header = { 'If-Match': base.etag, ...referenceHeader(reference) };
    const params = { path: { name }, header };
    await api.PATCH('/origins/{name}', {
      params,
      body: body,
    });
    announce(t(texts.saved));
    return onDone();
  };
  const readAgain = async () => {
    const now = await readOrigin(name);
    const [before, after] = [typedOf(base.origin), typedOf(now.origin)];
    setOthers(
      members
        .filter((member) => before[member] !== after[member])
        .map((member) => ({ member, before: before[member], after: after[member] })),
    );
    const merged = members.map((member) => [member, typed[member] === before[member] ? after[member] : typed[member]]);
    setTyped(Object.fromEntries(merged) as typeof typed);
    setBase(now);
  };

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(save);
      }}
    >
      <PolicyFields typed={typed} onChange={setTyped} problem={action.problem} />
      <ReferenceField value={reference} onInput={setReference} />
      {others.length > 0 && (
        <div class="note" role="status">
          <p>{t(texts.changedByOther)}</p>
          <ul>
            {others.map(({ member, before, after }) => (
              <li key={member}>
                {t(policyTexts[member].label)}: {before || '–'} → {after || '–'}
              </li>
            ))}
          </ul>
        </div>
      )}
      <ProblemView problem={action.problem} shownAt={policyPointers} />
      <div class="actions">
        {action.problem?.code === 'precondition_failed' && (
          <button type="button" onClick={() => void action.run(readAgain)}>
            {t(texts.readAgain)}
          </button>
        )}
        <button type="submit" class="first" disabled={action.isBusy}>
          {t(action.isBusy ? commonTexts.busy : commonTexts.save)}
        </button>
        <button type="button" onClick={onDone}>
          {t(commonTexts.cancel)}
        </button>
      </div>
    </form>
  );
}
