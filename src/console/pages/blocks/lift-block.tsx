import { Play } from 'lucide';
import { useState } from 'preact/hooks';
import { api, AssentError, type Schemas } from '../../app/api.js';
import { isBlock, readAll, useAction, useResource } from '../../app/live.js';
import { missingScopes } from '../../app/places.js';
import { isOperator } from '../../app/session.js';
import { announce, formatNumber, t } from '../../app/text.js';
import { blocksTexts as texts } from '../../texts/blocks.js';
import { Confirm } from '../../ui/dialog.js';
import { ReferenceField, referenceHeader } from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';

type Block = Schemas['Block'];

const maxRows = 1_000;

/** Those in force. For a token that may not see them: none. */
export const useBlocks = () =>
  useResource(
    'blocks',
    async (signal) =>
      missingScopes('blocks').length === 0
        ? readAll(maxRows, api.pages('/blocks', { signal }))
        : { rows: [], isCut: false },
    isBlock,
  );

export const canLift = ({ byoperator }: Block): boolean => !byoperator || isOperator.value;

/** Asks, and lifts them one after the other. One that is gone already is no failure. */
export function LiftDialog({
  blocks,
  onLifted,
  onClose,
}: {
  blocks: readonly Block[];
  onLifted: () => void;
  onClose: () => void;
}) {
  const [reference, setReference] = useState('');
  const action = useAction();
  const [first] = blocks;
  const isOne = blocks.length === 1;
  const count = formatNumber(blocks.length);
  const lift = async () => {
    for (const { id } of blocks) {
      const params = { path: { id }, header: referenceHeader(reference) };
      await api.DELETE('/blocks/{id}', { params }).catch((error: unknown) => {
        if (!(error instanceof AssentError && error.code === 'block_not_found')) throw error;
      });
    }
    announce(t(isOne ? texts.lifted : texts.liftedAll(count)));
    onLifted();
  };
  return (
    <Confirm
      title={t(isOne ? texts.liftTitle(first?.value ?? '') : texts.liftAllTitle(count))}
      confirm={t(texts.lift)}
      action={action}
      onConfirm={lift}
      onClose={onClose}
    >
      <p>{t(texts.liftText)}</p>
      <ReferenceField problem={action.problem} value={reference} onInput={setReference} />
    </Confirm>
  );
}

/** A button with its question, or why there is none. */
export function LiftButton({ block, look = '', onLifted }: { block: Block; look?: string; onLifted: () => void }) {
  const [isOpen, setIsOpen] = useState(false);
  if (!canLift(block)) return <span class="soft">{t(texts.operatorOnly)}</span>;
  return (
    <>
      <button
        type="button"
        class={look}
        aria-label={`${t(texts.lift)}: ${block.value}`}
        onClick={() => setIsOpen(true)}
      >
        <Icon of={Play} />
        <span class={look === 'quiet' ? 'from-tablet' : ''}>{t(texts.lift)}</span>
      </button>
      {isOpen && <LiftDialog blocks={[block]} onLifted={onLifted} onClose={() => setIsOpen(false)} />}
    </>
  );
}
