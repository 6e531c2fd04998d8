import { TriangleAlert } from 'lucide';
import { useRef, useState } from 'preact/hooks';
import { api, AssentError, type Schemas } from '../../app/api.js';
import { dropDraft, useDraft } from '../../app/draft.js';
import { useAction, useKey, useResource, useSettled, incomplete } from '../../app/live.js';
import { go, href, route } from '../../app/route.js';
import { isOperator, user } from '../../app/session.js';
import { announce, capital, fromLocalTime, t } from '../../app/text.js';
import { blocksTexts as texts } from '../../texts/blocks.js';
import { commonTexts } from '../../texts/common.js';
import {
  ChoiceField,
  Form,
  FormButtons,
  missing,
  ProblemView,
  ReasonField,
  ReferenceField,
  referenceHeader,
  TextField,
} from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';
import { BlockEffect } from './block-effect.js';
import { type BlockKind, blockKinds } from './blocks.js';

type End = keyof typeof texts.ends;

const ends = Object.keys(texts.ends) as End[];
const hourMs = 3_600_000;

interface BlockDraft {
  kind: BlockKind;
  value: string;
  tenant: string;
  reason: string;
  end: End;
  /** Of the end `other`, in the time zone of the browser. */
  at: string;
}

function timeOf({ end, at }: BlockDraft): string | undefined {
  const now = new Date();
  const hours = { hour: 1, hours: 4, today: undefined, lifted: undefined, other: undefined }[end];
  if (hours !== undefined) return new Date(now.getTime() + hours * hourMs).toISOString();
  if (end === 'today') return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1).toISOString();
  return end === 'other' ? fromLocalTime(at) : undefined;
}

/**
 * First the effect, then the block. Links say what to block, and until when:
 * `#/new-block?kind=host&value=hooks.example.com&until=hour`.
 */
export function NewBlockPage() {
  const { query } = route.value;
  const [name] = useState(() => `block ${query['kind'] ?? ''} ${query['value'] ?? ''} ${query['until'] ?? ''}`);
  const [draft, setDraft] = useDraft<BlockDraft>(name, {
    kind: blockKinds.find((each) => each === query['kind']) ?? 'host',
    value: query['value'] ?? '',
    tenant: query['tenant'] ?? user.value?.tenant ?? '',
    reason: '',
    end: ends.find((each) => each === query['until']) ?? 'lifted',
    at: '',
  });
  const { kind, value, tenant, reason, end, at } = draft;
  const set = (member: keyof BlockDraft) => (text: string) => setDraft((before) => ({ ...before, [member]: text }));
  const [reference, setReference] = useState('');
  const create = useAction();
  const keyOf = useKey();
  const sent = useRef<{ of: string; expiresat: string | undefined }>(undefined);

  const namesTenant = isOperator.value && kind !== 'tenant' && tenant !== user.value?.tenant;
  const target = { kind, value: value.trim(), ...(namesTenant && { tenant }) };
  const settled = useSettled(target);
  const look = useResource(`effect of ${JSON.stringify(settled)}`, async (signal) => {
    if (settled.value === '') return undefined;
    // A block needs a reason; its effect does not.
    const request = { params: { query: { dryrun: true } }, body: { ...settled, reason: '-' }, signal };
    return (await api.POST('/blocks', request)).data as Schemas['BlockPreview'];
  });
  const isSettled = JSON.stringify(settled) === JSON.stringify(target);
  const preview = isSettled ? look.data : undefined;
  const problem = create.problem ?? (isSettled ? look.problem : undefined);

  const block = async () => {
    if (isSettled && look.problem !== undefined) throw new AssentError(look.problem);
    // Nobody blocks what was not counted: it is there in a moment.
    if (preview === undefined) throw incomplete([{ pointer: '/value', rule: 'required', detail: t(texts.counting) }]);
    // The same end if it is sent again, so that it makes no second block.
    const of = JSON.stringify(draft);
    if (sent.current?.of !== of) sent.current = { of, expiresat: timeOf(draft) };
    const { expiresat } = sent.current;
    const body = { ...target, reason, ...(expiresat !== undefined && { expiresat }) };
    const header = { 'Idempotency-Key': keyOf(body), ...referenceHeader(reference) };
    const { id } = (await api.POST('/blocks', { params: { header }, body })).data as Schemas['Block'];
    dropDraft(name);
    announce(t(texts.blocked));
    go(href('blocks', id));
  };
  const cancel = () => {
    dropDraft(name);
    go(href('blocks'));
  };
  const check = () =>
    missing({
      '/value': [t(texts.kinds[kind]), value],
      '/reason': [t(commonTexts.reason), reason],
      ...(end === 'other' && { '/expiresat': [t(texts.until), at] as const }),
    });

  return (
    <>
      <h1>{t(texts.create)}</h1>
      <Form action={create} check={check} isKept onSubmit={block}>
        <div class="split">
          <div>
            <ChoiceField
              label={t(texts.kind)}
              value={kind}
              options={blockKinds}
              textOf={(each) => t(texts.kinds[each])}
              onChange={set('kind')}
            />
            <TextField
              label={t(texts.kinds[kind])}
              hint={t(texts.hints[kind])}
              problem={problem}
              pointer="/value"
              spellcheck={false}
              autocapitalize="off"
              value={value}
              onInput={set('value')}
            />
            {isOperator.value && kind !== 'tenant' && (
              <TextField
                label={t(texts.tenant)}
                hint={t(texts.tenantHint)}
                problem={problem}
                pointer="/tenant"
                value={tenant}
                onInput={set('tenant')}
              />
            )}
            <ChoiceField
              label={t(texts.until)}
              value={end}
              options={ends}
              textOf={(each) => capital(t(texts.ends[each]))}
              onChange={set('end')}
            />
            {end === 'other' && (
              <TextField
                label={t(texts.untilTime)}
                hint={t(texts.untilHint)}
                problem={problem}
                pointer="/expiresat"
                type="datetime-local"
                value={at}
                onInput={set('at')}
              />
            )}
            <ReasonField hint={t(texts.reasonHint)} problem={problem} value={reason} onInput={set('reason')} />
            <ReferenceField problem={problem} value={reference} onInput={setReference} />
          </div>
          <section class="note open" aria-labelledby="effect" aria-live="polite" aria-busy={look.isLoading}>
            <Icon of={TriangleAlert} size={20} />
            <div>
              <h2 id="effect">{t(texts.effect)}</h2>
              {preview === undefined ? (
                <p>{t(value.trim() === '' ? texts.toShow : commonTexts.busy)}</p>
              ) : (
                <BlockEffect block={preview} effect={preview.effect} />
              )}
              <p class="soft">{t(texts.lead)}</p>
            </div>
          </section>
        </div>
        <ProblemView problem={problem} shownAt={['/kind', '/value', '/reason', '/expiresat', '/tenant']} />
        <FormButtons action={create} submit={t(texts.block)} cancel={cancel} isDangerous />
      </Form>
    </>
  );
}
