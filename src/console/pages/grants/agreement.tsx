import { useState } from 'preact/hooks';
import { announce } from '../../app/announce.js';
import { api, newKey, type Schemas } from '../../app/api.js';
import { readAll } from '../../app/read-all.js';
import { useAction, useResource } from '../../app/resource.js';
import { go, href, route } from '../../app/route.js';
import { t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { grantsTexts as texts } from '../../texts/grants.js';
import { Field } from '../../ui/field.js';
import { Loaded, ProblemView } from '../../ui/problem.js';
import { ReferenceField } from './grant-changes.js';

const places = ['/origin', '/sink', '/allowedrate', '/expiresat', '/reference', 'header/audit-reference'];

/**
 * `#/grants?agree=ID` approves the subscription with this id; `#/grants?agree=new&origin=…&sink=…` begins with these.
 */
export function Agreement({ of }: { of: string }) {
  const subscription = useResource(`agree/${of}`, async (signal) =>
    of === 'new' ? undefined : (await api.GET('/subscriptions/{id}', { params: { path: { id: of } }, signal })).data,
  );
  const origins = useResource('origins', async (signal) => {
    const { rows } = await readAll(1_000, api.pages('/origins', { signal }));
    return rows;
  });
  const isThere = of === 'new' || subscription.data !== undefined;
  return (
    <>
      <p>
        <a href={href('grants')}>{t(texts.backToGrants)}</a>
      </p>
      <h1>{t(texts.agree)}</h1>
      <p>{t(texts.agreeLead)}</p>
      <ProblemView problem={subscription.problem} onRetry={subscription.reload} />
      <Loaded of={origins}>
        {(rows) => isThere && <AgreementForm origins={rows} subscription={subscription.data} />}
      </Loaded>
    </>
  );
}

function AgreementForm({
  origins,
  subscription,
}: {
  origins: ReadonlyArray<Schemas['Origin']>;
  subscription: Schemas['Subscription'] | undefined;
}) {
  const { query } = route.value;
  const [key] = useState(newKey);
  const [form, setForm] = useState({
    origin: subscription?.origin ?? query['origin'] ?? origins.find(({ isdefault }) => isdefault)?.name ?? '',
    sink: subscription?.sink ?? query['sink'] ?? '',
    rate: String(subscription?.requestedrate ?? query['rate'] ?? 60),
    isUnlimited: false,
    day: aYearFromNow(),
    reference: '',
    ticket: '',
  });
  const action = useAction();
  const change = (part: Partial<typeof form>) => setForm((before) => ({ ...before, ...part }));
  const field = (pointer: string) => ({ problem: action.problem, pointer });
  const submit = async (event: Event) => {
    event.preventDefault();
    let created = '';
    const isDone = await action.run(async () => {
      const header = { 'Idempotency-Key': key, ...(form.ticket.trim() && { 'Audit-Reference': form.ticket.trim() }) };
      const body = {
        origin: form.origin,
        sink: form.sink.trim(),
        allowedrate: form.isUnlimited ? ('*' as const) : Number(form.rate),
        expiresat: endOf(form.day),
        reference: form.reference,
      };
      created = (await api.POST('/grants', { params: { header }, body })).data.id;
    });
    if (!isDone) return;
    announce(t(texts.agreed));
    go(subscription === undefined ? href('grants', created) : href('subscriptions', subscription.id));
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      {subscription !== undefined && (
        <p class="note">
          {t(texts.approves)} <a href={href('subscriptions', subscription.id)}>{subscription.id}</a>
        </p>
      )}
      <Field label={t(texts.origin)} {...field('/origin')}>
        {(attributes) => (
          <select
            {...attributes}
            value={form.origin}
            onChange={({ currentTarget }) => change({ origin: currentTarget.value })}
          >
            {origins.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={t(texts.sink)} {...field('/sink')}>
        {(attributes) => (
          <input
            {...attributes}
            inputMode="url"
            spellcheck={false}
            value={form.sink}
            onInput={({ currentTarget }) => change({ sink: currentTarget.value })}
          />
        )}
      </Field>
      <Field label={t(texts.rate)} {...field('/allowedrate')}>
        {(attributes) => (
          <input
            {...attributes}
            type="number"
            min={1}
            disabled={form.isUnlimited}
            value={form.rate}
            onInput={({ currentTarget }) => change({ rate: currentTarget.value })}
          />
        )}
      </Field>
      <p>
        <label class="choice">
          <input
            type="checkbox"
            checked={form.isUnlimited}
            onChange={({ currentTarget }) => change({ isUnlimited: currentTarget.checked })}
          />{' '}
          {t(texts.noLimitChoice)}
        </label>
      </p>
      <Field label={t(texts.lastDay)} hint={t(texts.lastDayHint)} {...field('/expiresat')}>
        {(attributes) => (
          <input
            {...attributes}
            type="date"
            value={form.day}
            onInput={({ currentTarget }) => change({ day: currentTarget.value })}
          />
        )}
      </Field>
      <Field label={t(texts.agreement)} hint={t(texts.agreementHint)} {...field('/reference')}>
        {(attributes) => (
          <input
            {...attributes}
            value={form.reference}
            onInput={({ currentTarget }) => change({ reference: currentTarget.value })}
          />
        )}
      </Field>
      <ReferenceField problem={action.problem} value={form.ticket} onValue={(ticket) => change({ ticket })} />
      <ProblemView problem={action.problem} shownAt={places} />
      <div class="actions">
        <button type="submit" class="first" disabled={action.isBusy}>
          {t(action.isBusy ? commonTexts.busy : texts.agree)}
        </button>
      </div>
    </form>
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
