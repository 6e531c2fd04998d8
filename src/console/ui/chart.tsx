import { useId, useState } from 'preact/hooks';
import { formatNumber, t } from '../app/text.js';
import { commonTexts } from '../texts/common.js';
import type { Look } from './value.js';

interface Series {
  name: string;
  look: Look;
  values: readonly number[];
}

/** The steps that a value axis may have, times a power of ten. */
const steps = [1, 2, 3, 4, 5, 6, 8, 10];

/** Zero, the middle and the top of an axis on which `max` has room. */
function axisTo(max: number): readonly [number, number, number] {
  const half = Math.max(1, max / 2);
  const power = 10 ** Math.floor(Math.log10(half));
  const step = (steps.find((each) => each * power >= half) ?? 10) * power;
  return [0, step, 2 * step];
}

/** With fewer points than this, a sentence says more than a chart. */
const leastPoints = 3;

/**
 * Values over time: stacked bars, or with a `limit` the area under a line. The pointer and the arrow keys move over the
 * points, whose values stand beside them, and screen readers say them. The same numbers are a table (`columns`, or else the
 * series).
 */
export function Chart({
  title,
  hint,
  labels,
  series,
  unit = '',
  limit,
  columns = series,
}: {
  title: string;
  hint?: string;
  /** Of the points. The last one is the present one. */
  labels: readonly string[];
  series: readonly Series[];
  unit?: string;
  /** What the values should stay below, and its name. */
  limit?: { value: number; name: string };
  columns?: ReadonlyArray<Pick<Series, 'name' | 'values'>>;
}) {
  const id = useId();
  const [active, setActive] = useState<number | undefined>(undefined);
  const count = labels.length;
  const totals = labels.map((_, place) => series.reduce((sum, { values }) => sum + (values[place] ?? 0), 0));
  const shown = series.filter(({ values }) => values.some((value) => value > 0));
  const points = totals.filter((total) => total > 0).length;
  const axis = axisTo(Math.max(...totals, limit === undefined ? 0 : limit.value * 1.1));
  const [, , top] = axis;
  const text = (value: number) => `${formatNumber(Math.round(value))}${unit}`;
  const press = (event: KeyboardEvent) => {
    const last = count - 1;
    const at = active ?? count;
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
    if (event.key === 'Escape') setActive(undefined);
    if (to === undefined) return;
    event.preventDefault();
    setActive(Math.max(0, Math.min(last, to)));
  };
  const follow = ({ currentTarget, clientX }: PointerEvent) => {
    const { left, width } = (currentTarget as Element).getBoundingClientRect();
    setActive(Math.max(0, Math.min(count - 1, Math.floor(((clientX - left) / width) * count))));
  };
  return (
    <figure class="card chart">
      <figcaption>
        <h2 id={id}>{title}</h2>
        {limit === undefined && (
          <ul class="legend">
            {shown.map(({ name, look, values }) => (
              <li key={name} class={look}>
                {name} {text(values.reduce((sum, value) => sum + value, 0))}
              </li>
            ))}
          </ul>
        )}
      </figcaption>
      {points < leastPoints ? (
        <p class="soft plot none">{t(points === 0 ? commonTexts.chart.none : commonTexts.chart.few)}</p>
      ) : (
        <div class="plot">
          {axis.map((value) => (
            <span key={value} class="value" style={{ bottom: `${(value / top) * 100}%` }}>
              {formatNumber(value)}
            </span>
          ))}
          <div
            class="points"
            role="application"
            tabIndex={0}
            aria-label={`${title}. ${t(commonTexts.chart.keys)}`}
            onKeyDown={press}
            onPointerMove={follow}
            onPointerLeave={() => setActive(undefined)}
            onBlur={() => setActive(undefined)}
          >
            <svg viewBox={`0 0 ${count} ${top}`} preserveAspectRatio="none" aria-hidden="true">
              {axis.map((value) => (
                <path key={value} class="grid" d={`M0 ${top - value}h${count}`} />
              ))}
              {active !== undefined && <rect class="active" x={active} width="1" height={top} />}
              {limit === undefined ? <Bars series={series} top={top} /> : <Area values={totals} top={top} />}
              {limit !== undefined && <path class="limit" d={`M0 ${top - limit.value}h${count}`} />}
            </svg>
            {limit !== undefined && (
              <span class="limit" style={{ bottom: `${(limit.value / top) * 100}%` }}>
                {limit.name}
              </span>
            )}
            <div
              class={active !== undefined && active > count / 2 ? 'read-out left' : 'read-out'}
              role="status"
              style={{ left: `${((active ?? 0) / count) * 100}%` }}
            >
              {active !== undefined && (
                <>
                  <b>{labels[active]}</b>
                  {shown.map(({ name, look, values }) => (
                    <span key={name} class={look}>
                      {name} {text(values[active] ?? 0)}
                    </span>
                  ))}
                </>
              )}
            </div>
          </div>
          <p class="times" aria-hidden="true">
            {[0, 0.25, 0.5, 0.75].map((part) => (
              <span key={part} style={{ left: `${part * 100}%` }}>
                {labels[Math.floor(part * count)]}
              </span>
            ))}
            <span>{t(commonTexts.chart.now)}</span>
          </p>
        </div>
      )}
      <details>
        <summary>{t(commonTexts.asTable)}</summary>
        {hint !== undefined && <p class="soft">{hint}</p>}
        <div class="scroll" tabIndex={0} role="region" aria-labelledby={id}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t(commonTexts.time)}</th>
                {columns.map(({ name }) => (
                  <th key={name} scope="col" class="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {labels.map((label, place) => (
                <tr key={label}>
                  <th scope="row">{label}</th>
                  {columns.map(({ name, values }) => (
                    <td key={name} class="number">
                      {formatNumber(Math.round(values[place] ?? 0))}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

function Bars({ series, top }: { series: readonly Series[]; top: number }) {
  const from = new Map<number, number>();
  return (
    <>
      {series.map(({ name, look, values }) => (
        <g key={name} class={look}>
          {values.map((value, place) => {
            if (value === 0) return null;
            // What is there can be seen, however small it is.
            const height = Math.max(value, top / 80);
            const y = (from.get(place) ?? top) - height;
            from.set(place, y);
            return <rect key={place} x={place + 0.1} y={y} width="0.8" height={height} />;
          })}
        </g>
      ))}
    </>
  );
}

function Area({ values, top }: { values: readonly number[]; top: number }) {
  const line = values.map((value, place) => `${place + 0.5} ${top - value}`).join('L');
  return (
    <>
      <path class="area" d={`M0.5 ${top}L${line}L${values.length - 0.5} ${top}Z`} />
      <path class="line" d={`M${line}`} />
    </>
  );
}
