import type { Schemas } from '../../app/api.js';
import { formatNumber, language, t, type Text } from '../../app/text.js';
import { policySentences as say } from '../../texts/origin-policy.js';

type Origin = Schemas['Origin'];

const units: Array<[string, number]> = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

/** In the largest unit that has no fraction. */
export function formatDuration(seconds: number): string {
  const [unit, size] = units.find(([, each]) => seconds % each === 0) ?? ['second', 1];
  return new Intl.NumberFormat(language.value, { style: 'unit', unit, unitDisplay: 'long' }).format(seconds / size);
}

/** A policy in words. */
export function OriginPolicy({ origin }: { origin: Origin }) {
  const { isdefault, requestedrate, defaultrate, judgement, callback, unsupportedrate, leaseseconds, goneafter } =
    origin;
  const fill = (text: Text, value: string) => t(text).replace('{value}', value);
  const rate = (value: string | number) => (typeof value === 'number' ? formatNumber(value) : value);
  const sentences = [
    t(isdefault ? say.isDefault : say.notDefault),
    requestedrate === undefined ? t(say.asksNothing) : fill(say.asks, rate(requestedrate)),
    defaultrate === '*' ? t(say.unlimited) : fill(say.defaultRate, rate(defaultrate)),
    t(say[judgement]),
    t(say[callback]),
    unsupportedrate === undefined ? t(say.unsupportedNone) : fill(say.unsupported, rate(unsupportedrate)),
    fill(say.lifetime, formatDuration(leaseseconds)),
    fill(say.profile, origin.profile),
    goneafter === 1 ? t(say.goneOnce) : fill(say.goneAfter, formatNumber(goneafter)),
  ];
  return (
    <ul>
      {sentences.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  );
}
