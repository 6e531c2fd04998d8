import { useState } from 'preact/hooks';
import { announce } from '../../app/announce.js';
import { api, type Schemas } from '../../app/api.js';
import { useAction } from '../../app/resource.js';
import { isOperator } from '../../app/session.js';
import { t } from '../../app/text.js';
import { blocksTexts as texts } from '../../texts/blocks.js';
import { Confirm } from '../../ui/dialog.js';
import { ReferenceField, referenceHeader } from '../../ui/reference.js';

type Block = Schemas['Block'];

/** A button with its question, or why there is none. */
export function LiftBlock({ block, onLifted }: { block: Block; onLifted: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const [reference, setReference] = useState('');
  const action = useAction();
  const { id, value, byoperator } = block;
  if (byoperator && !isOperator.value) return <span class="soft">{t(texts.operatorOnly)}</span>;
  const lift = async () => {
    await api.DELETE('/blocks/{id}', { params: { path: { id }, header: referenceHeader(reference) } });
    announce(t(texts.lifted));
    onLifted();
  };
  return (
    <>
      <button type="button" aria-label={`${t(texts.liftThis)}: ${value}`} onClick={() => setOpen(true)}>
        {t(texts.lift)}
      </button>
      {isOpen && (
        <Confirm
          title={t(texts.liftTitle).replace('{value}', () => value)}
          confirm={t(texts.liftThis)}
          action={action}
          onConfirm={lift}
          onClose={() => {
            action.clear();
            setOpen(false);
          }}
        >
          <p>{t(texts.liftText)}</p>
          <ReferenceField value={reference} onInput={setReference} />
        </Confirm>
      )}
    </>
  );
}
