import { computed, signal } from '@preact/signals';
import { Archive, Ban, Check, CircleX, Clock, Copy, Hourglass, type IconNode, Pause, Unplug, X } from 'lucide';
import { type ComponentChildren, Fragment, type RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { useId } from 'preact/hooks';
import { announce, formatNumber, locale, t } from '../app/text.js';
import type { Schemas } from '../app/api.js';
import { commonTexts } from '../texts/common.js';
import { Icon } from './icon.js';

const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 15_000);

const units: Array<[Intl.RelativeTimeFormatUnit, number]> = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** Made once for each language: making one takes longer than drawing a row. */
const formats = computed(() => ({
  relative: new Intl.RelativeTimeFormat(locale.value, { numeric: 'auto' }),
  age: Object.fromEntries(
    ['day', 'hour', 'minute', 'second'].map((unit) => [
      unit,
      new Intl.NumberFormat(locale.value, { style: 'unit', unit, unitDisplay: 'short' }),
    ]),
  ),
  exact: new Intl.DateTimeFormat(locale.value, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  }),
}));

/** A time as people say it, with the exact one as its title; how long ago, for a column that says so; or the exact one. */
export function Time({ at, look = 'relative' }: { at: string | undefined; look?: 'relative' | 'age' | 'exact' }) {
  if (at === undefined) return null;
  const time = Date.parse(at);
  const exact = formats.value.exact.format(time);
  if (look === 'exact') return <time dateTime={at}>{exact}</time>;
  const ms = time - Math.max(now.value, Date.now());
  const [unit, size] = units.find(([, each]) => Math.abs(ms) >= each) ?? ['second', 1_000];
  return (
    <time dateTime={at} title={exact}>
      {look === 'age'
        ? formats.value.age[unit]?.format(Math.trunc(-ms / size))
        : formats.value.relative.format(Math.trunc(ms / size), unit)}
    </time>
  );
}

/** What happens next, as the registry says it: its `nextat` is the time. */
export function Next({ text, at }: { text: string; at: string | undefined }) {
  const [before, after] = text.split(/\bnextat\b/);
  if (at === undefined) return <bdi>{text}</bdi>;
  if (after !== undefined) {
    return (
      <>
        {before}
        <Time at={at} look="exact" />
        {after}
      </>
    );
  }
  return (
    <>
      {text.replace(/\.$/, '')}, <Time at={at} />.
    </>
  );
}

/** A person with the program that was used, or a program alone. */
export function Who({ client, person }: { client: string; person: Schemas['Person'] | undefined }) {
  if (person === undefined) return <bdi>{client}</bdi>;
  return (
    <>
      <bdi title={person.id}>{person.name ?? person.id}</bdi> (<bdi>{client}</bdi>)
    </>
  );
}

type Status = Schemas['SubscriptionStatus'] | Schemas['Grant']['state'];
export type Look = 'good' | 'open' | 'bad' | 'stop' | 'off';

const looks: Record<Status, readonly [Look, IconNode]> = {
  active: ['good', Check],
  live: ['good', Check],
  pending: ['open', Clock],
  refused: ['bad', X],
  unreachable: ['bad', Unplug],
  blocked: ['stop', CircleX],
  revoked: ['stop', Ban],
  suspended: ['off', Pause],
  expired: ['off', Hourglass],
  ended: ['off', Hourglass],
  retired: ['off', Archive],
};
export const lookOf = (status: Status): Look => looks[status][0];
export const iconOf = (status: Status): IconNode => looks[status][1];

/** The word, with a colour and a mark: nobody has to tell colours apart. */
export function StatusBadge({ status }: { status: Status }) {
  const [look, icon] = looks[status];
  return (
    <Badge look={look} icon={icon}>
      {t(commonTexts.statuses[status])}
    </Badge>
  );
}

export function Badge({ look, icon, children }: { look: Look; icon: IconNode; children: ComponentChildren }) {
  return (
    <span class={`badge ${look}`}>
      <Icon of={icon} size={13} />
      {children}
    </span>
  );
}

/** The address of a webhook: its path is what tells it from its neighbours. */
export function Sink({ sink }: { sink: string }) {
  const host = URL.canParse(sink) ? new URL(sink).host : '';
  const from = host === '' ? -1 : sink.indexOf(host) + host.length;
  if (from < host.length) return <bdi>{sink}</bdi>;
  return (
    <bdi class="sink" title={sink}>
      <span class="unseen">{sink.slice(0, from - host.length)}</span>
      <span class="soft">{host}</span>
      <b>{sink.slice(from)}</b>
    </bdi>
  );
}

/** Text to take along, in a box that scrolls, with a button that copies it. */
export function Copyable({ text, label }: { text: string; label: string }) {
  const box = useRef<HTMLPreElement>(null);
  return (
    <div class="copyable">
      <pre ref={box} tabIndex={0} aria-label={label}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} label={t(commonTexts.copy)} shown={box} />
    </div>
  );
}

/** Copies a text, or chooses where it is shown if the browser does not allow that. */
export function CopyButton({
  text,
  label,
  shown,
}: {
  text: string;
  label: string;
  shown?: RefObject<HTMLElement | null>;
}) {
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => announce(t(commonTexts.copied)),
      () => shown?.current && getSelection()?.selectAllChildren(shown.current),
    );
  if (!window.isSecureContext) return null;
  return (
    <button type="button" class="quiet" aria-label={label} title={label} onClick={() => void copy()}>
      <Icon of={Copy} />
    </button>
  );
}

/** What is known of one thing. What is absent is left out. */
export function FactsCard({
  title,
  facts,
  children,
}: {
  title: string;
  facts: ReadonlyArray<readonly [string, ComponentChildren]>;
  /** What can be done with it. */
  children?: ComponentChildren;
}) {
  const id = useId();
  return (
    <section class="card facts-card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <dl class="facts">
        {facts
          .filter(([, value]) => value !== undefined && value !== '')
          .map(([name, value]) => (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </Fragment>
          ))}
      </dl>
      {children}
    </section>
  );
}

/** Requests per minute, in the language of the console. */
export function rateText(rate: Schemas['Rate'] | undefined): string {
  if (rate === undefined) return '';
  return rate === '*' ? t(commonTexts.noLimit) : formatNumber(rate);
}

/** For a column that says that it is a rate. */
export const shortRate = (rate: Schemas['Rate']) =>
  rate === '*' ? <span title={t(commonTexts.noLimit)}>∞</span> : formatNumber(rate);
