import { useEffect, useRef, useState } from 'preact/hooks';
import { announce, fromLocalTime, t } from '../../app/text.js';
import { api, type Schemas } from '../../app/api.js';
import { useAction, useKey } from '../../app/live.js';
import { dropDraft, useDraft } from '../../app/draft.js';
import { go, href, route } from '../../app/route.js';
import { isOperator, user } from '../../app/session.js';
import { blocksTexts as texts } from '../../texts/blocks.js';
import { commonTexts } from '../../texts/common.js';
import { ProblemView, TextField, SelectField, ReferenceField, referenceHeader } from '../../ui/form.js';
import { BlockEffectCard, type ApiBlockKind } from './block-effect.js';
import { blockKinds } from './blocks.js';

type Preview = Schemas['BlockPreview'];

const shownAt = ['/kind', '/value', '/reason', '/expiresat', '/tenant'];

interface BlockDraft {
  kind: ApiBlockKind;
  value: string;
  tenant: string;
  reason: string;
  until: string;
}

/** First the effect, then the block. Links name what to block: `#/new-block?kind=host&value=hooks.example.com`. */
export function NewBlockPage() {
  const { query } = route.value;
  const [name] = useState(() => `block ${query['kind'] ?? ''} ${query['value'] ?? ''}`);
  const [draft, setDraft] = useDraft<BlockDraft>(name, {
    kind: blockKinds.find((each) => each === query['kind']) ?? 'host',
    value: query['value'] ?? '',
    tenant: query['tenant'] ?? user.value?.tenant ?? '',
    reason: '',
    until: '',
  });
  const { kind, value, tenant, reason, until } = draft;
  const set = (member: keyof typeof draft) => (text: string) => setDraft((before) => ({ ...before, [member]: text }));
  const [reference, setReference] = useState('');
  const [shown, setShown] = useState<{ of: string; preview: Preview } | undefined>(undefined);
  const look = useAction();
  const create = useAction();
  const keyOf = useKey();
  const heading = useRef<HTMLHeadingElement>(null);

  const of = JSON.stringify([kind, value, tenant]);
  const namesTenant = isOperator.value && kind !== 'tenant' && tenant !== user.value?.tenant;
  const expiresat = fromLocalTime(until);
  const body = {
    ...{ kind, value, reason },
    ...(expiresat !== undefined && { expiresat }),
    ...(namesTenant && { tenant }),
  };
  const preview = shown?.of === of ? shown.preview : undefined;
  const problem = create.problem ?? look.problem;

  const showEffect = (isAsked: boolean) =>
    look.run(async () => {
      create.clear();
      // A block needs a reason; its effect does not.
      const request = { ...body, reason: reason === '' ? '-' : reason };
      const { data } = await api.POST('/blocks', { params: { query: { dryrun: true } }, body: request });
      setShown({ of, preview: data as Preview });
      if (isAsked) setTimeout(() => heading.current?.focus());
    });
  useEffect(() => {
    if (value !== '') void showEffect(false);
  }, []);

  const block = async () => {
    const header = { 'Idempotency-Key': keyOf(body), ...referenceHeader(reference) };
    const { id } = (await api.POST('/blocks', { params: { header }, body })).data as Schemas['Block'];
    dropDraft(name);
    announce(t(texts.blocked));
    go(href('blocks', id));
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (preview === undefined) return void showEffect(true);
    look.clear();
    return void create.run(block);
  };

  return (
    <>
      <h1>{t(texts.create)}</h1>
      <p>{t(texts.lead)}</p>
      <form onSubmit={submit}>
        <SelectField
          label={t(texts.kind)}
          problem={problem}
          pointer="/kind"
          value={kind}
          options={blockKinds}
          textOf={(each) => t(texts.kinds[each])}
          onChange={set('kind')}
        />
        <TextField
          label={t(texts.value)}
          hint={t(texts.hints[kind])}
          problem={problem}
          pointer="/value"
          required
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
            required
            value={tenant}
            onInput={set('tenant')}
          />
        )}
        <div aria-busy={look.isBusy}>
          {preview === undefined ? (
            <button type="submit" disabled={look.isBusy}>
              {t(look.isBusy ? commonTexts.busy : texts.showEffect)}
            </button>
          ) : (
            <div class="note">
              <h2 tabIndex={-1} ref={heading}>
                {t(texts.effect)}
              </h2>
              <p>{t(texts.notYet)}</p>
              <BlockEffectCard block={preview} effect={preview.effect} />
            </div>
          )}
        </div>
        {preview !== undefined && (
          <>
            <TextField
              label={t(commonTexts.reason)}
              hint={t(texts.reasonHint)}
              problem={problem}
              pointer="/reason"
              required
              value={reason}
              onInput={set('reason')}
            />
            <TextField
              label={t(texts.untilOptional)}
              hint={t(texts.untilHint)}
              problem={problem}
              pointer="/expiresat"
              type="datetime-local"
              value={until}
              onInput={set('until')}
            />
            <ReferenceField value={reference} onInput={setReference} />
          </>
        )}
        <ProblemView problem={problem} shownAt={shownAt} />
        <div class="actions">
          {preview !== undefined && (
            <button type="submit" class="danger" disabled={create.isBusy}>
              {t(create.isBusy ? commonTexts.busy : texts.block)}
            </button>
          )}
          <a class="button" href={href('blocks')} onClick={() => dropDraft(name)}>
            {t(commonTexts.cancel)}
          </a>
        </div>
      </form>
    </>
  );
}
