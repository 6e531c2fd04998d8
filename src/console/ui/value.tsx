import { computed, signal } from '@preact/signals';
import { language, t, announce, formatNumber } from '../app/text.js';
import type { Schemas } from '../app/api.js';
import { commonTexts } from '../texts/common.js';
import { grantsTexts } from '../texts/grants.js';

const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 15_000);

const units: Array<[Intl.RelativeTimeFormatUnit, number]> = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** Made once for each language: making one takes longer than drawing a row. */
const formats = computed(() => ({
  relative: new Intl.RelativeTimeFormat(language.value, { numeric: 'auto' }),
  exact: new Intl.DateTimeFormat(language.value, { dateStyle: 'medium', timeStyle: 'medium' }),
}));

function relative(ms: number): string {
  const [unit, size] = units.find(([, each]) => Math.abs(ms) >= each) ?? ['second', 1_000];
  return formats.value.relative.format(Math.trunc(ms / size), unit);
}

/** A time as people say it, with the exact one as its title. */
export function Time({ at, isExact = false }: { at: string | undefined; isExact?: boolean }) {
  if (at === undefined) return null;
  const time = Date.parse(at);
  const exact = formats.value.exact.format(time);
  return (
    <time dateTime={at} title={exact}>
      {isExact ? exact : relative(time - Math.max(now.value, Date.now()))}
    </time>
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

const looks: Partial<Record<Status, string>> = {
  active: 'good',
  live: 'good',
  pending: 'open',
  suspended: 'off',
  ended: 'off',
};

/** The word, with a colour and a mark: nobody has to tell colours apart. */
export function StatusBadge({ status }: { status: Status }) {
  return <span class={`badge ${looks[status] ?? 'bad'}`}>{t(commonTexts.statuses[status])}</span>;
}

/** Text to take along, in a box that scrolls, with a button that copies it. */
export function Copyable({ text, label }: { text: string; label: string }) {
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    announce(t(commonTexts.copied));
  };
  return (
    <div class="copyable">
      <pre tabIndex={0} aria-label={label}>
        <code>{text}</code>
      </pre>
      {window.isSecureContext && (
        <button type="button" onClick={() => void copy()}>
          {t(commonTexts.copy)}
        </button>
      )}
    </div>
  );
}

/** Requests per minute, in the language of the console. */
export function rateText(rate: Schemas['Rate'] | undefined): string {
  if (rate === undefined) return '';
  return rate === '*' ? t(grantsTexts.noLimit) : formatNumber(rate);
}
