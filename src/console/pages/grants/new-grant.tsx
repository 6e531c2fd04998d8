import { ChevronRight } from 'lucide';
import { useId } from 'preact/hooks';
import { api, type Problem } from '../../app/api.js';
import { dropDraft, useDraft } from '../../app/draft.js';
import { useAction, useKey, useResource, useSettled } from '../../app/live.js';
import { go, href, route } from '../../app/route.js';
import { announce, t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { grantsTexts as texts } from '../../texts/grants.js';
import {
  Form,
  FormButtons,
  Loaded,
  missing,
  ProblemView,
  ReferenceField,
  referenceHeader,
  SelectField,
  TextField,
} from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';
import { defaultOf, useOrigins } from '../origins/use-origins.js';

const places = ['/origin', '/sink', '/allowedrate', '/expiresat', '/agreement', 'header/audit-reference'];
const usualRate = '60';
const maxSinks = 50;

/**
 * `#/new-grant`, which begins with the `origin`, `sink` and `rate` of the address, and goes back to the `subscription` or
 * the `grant` that it names.
 */
export function NewGrant() {
  const origins = useOrigins();
  return (
    <>
      <nav class="path" aria-label={t(commonTexts.path)}>
        <a href={href('grants')}>{t(commonTexts.menu.grants)}</a>
        <Icon of={ChevronRight} size={14} />
        <span>{t(texts.agreement)}</span>
      </nav>
      <div class="title">
        <h1>{t(texts.agree)}</h1>
      </div>
      <Loaded of={origins}>
        {({ rows }) => <AgreementForm origins={rows.map(({ name }) => name)} first={defaultOf(rows) ?? ''} />}
      </Loaded>
    </>
  );
}

function AgreementForm({ origins, first }: { origins: readonly string[]; first: string }) {
  const { subscription, grant, ...given } = route.value.query;
  const keyOf = useKey();
  const draft = `agreement ${given['origin'] ?? ''} ${given['sink'] ?? ''}`;
  const [form, setForm] = useDraft(draft, {
    origin: given['origin'] ?? first,
    sink: given['sink'] ?? '',
    rate: given['rate'] === '*' ? usualRate : (given['rate'] ?? usualRate),
    isUnlimited: given['rate'] === '*',
    day: aYearFromNow(),
    agreement: '',
    ticket: '',
  });
  const action = useAction();
  const change = (part: Partial<typeof form>) => setForm((before) => ({ ...before, ...part }));
  const field = (pointer: string) => ({ problem: action.problem, pointer });
  const check = () =>
    missing({ '/sink': [t(texts.sink), form.sink], '/agreement': [t(texts.agreement), form.agreement] });
  const back = subscription === undefined ? href('grants', grant) : href('subscriptions', subscription);
  const submit = async () => {
    const body = {
      origin: form.origin,
      sink: form.sink.trim(),
      allowedrate: form.isUnlimited ? ('*' as const) : Number(form.rate),
      expiresat: endOf(form.day),
      agreement: form.agreement,
    };
    const header = { 'Idempotency-Key': keyOf(body), ...referenceHeader(form.ticket) };
    const { data } = await api.POST('/grants', { params: { header }, body });
    dropDraft(draft);
    announce(t(texts.agreed));
    go(subscription === undefined ? href('grants', data.id) : back);
  };
  return (
    <div class="split">
      <Form action={action} check={check} isKept onSubmit={submit}>
        <SelectField
          label={t(texts.origin)}
          {...field('/origin')}
          value={form.origin}
          options={origins}
          textOf={(name) => name}
          onChange={(origin) => change({ origin })}
        />
        <SinkField {...field('/sink')} origin={form.origin} value={form.sink} onInput={(sink) => change({ sink })} />
        <TextField
          label={t(texts.rate)}
          {...field('/allowedrate')}
          type="number"
          min={1}
          disabled={form.isUnlimited}
          value={form.rate}
          onInput={(rate) => change({ rate })}
        />
        <label class="choice">
          <input
            type="checkbox"
            checked={form.isUnlimited}
            onChange={({ currentTarget }) => change({ isUnlimited: currentTarget.checked })}
          />{' '}
          {t(texts.noLimitChoice)}
        </label>
        <TextField
          label={t(texts.lastDay)}
          hint={t(texts.lastDayHint)}
          {...field('/expiresat')}
          type="date"
          value={form.day}
          onInput={(day) => change({ day })}
        />
        <TextField
          label={t(texts.agreement)}
          hint={t(texts.agreementHint)}
          {...field('/agreement')}
          value={form.agreement}
          onInput={(agreement) => change({ agreement })}
        />
        <ReferenceField problem={action.problem} value={form.ticket} onInput={(ticket) => change({ ticket })} />
        <ProblemView problem={action.problem} shownAt={places} />
        <FormButtons action={action} submit={t(texts.agree)} cancel={back} />
      </Form>
      <aside class="card">
        <h2>{t(texts.agreeTitle)}</h2>
        <p>{t(texts.agreeLead)}</p>
      </aside>
    </div>
  );
}

/** Completed from the sinks that the subscriptions of the origin have. */
function SinkField({
  origin,
  ...field
}: {
  origin: string;
  problem: Problem | undefined;
  pointer: string;
  value: string;
  onInput: (sink: string) => void;
}) {
  const list = useId();
  const part = useSettled(field.value.trim());
  const known = useResource(JSON.stringify([origin, part]), async (signal) => {
    if (origin === '' || part.includes(' ')) return [];
    const query = { origin, limit: maxSinks, ...(part !== '' && { sinkcontains: part }) };
    const { data } = await api.GET('/subscriptions', { params: { query }, signal });
    return [...new Set(data.map(({ sink }) => sink))];
  });
  return (
    <>
      <TextField label={t(texts.sink)} {...field} inputMode="url" spellcheck={false} autocomplete="off" {...{ list }} />
      <datalist id={list}>
        {(known.data ?? []).map((sink) => (
          <option key={sink} value={sink} />
        ))}
      </datalist>
    </>
  );
}

function aYearFromNow(): string {
  const day = new Date();
  day.setFullYear(day.getFullYear() + 1);
  return day.toISOString().slice(0, 10);
}

/** The end of a day where the user is. What is no day goes to the registry as it is, which says what is wrong. */
function endOf(day: string): string {
  const end = new Date(`${day}T23:59:59`);
  return Number.isNaN(end.getTime()) ? day : end.toISOString();
}
