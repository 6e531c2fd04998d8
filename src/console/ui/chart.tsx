import { useId } from 'preact/hooks';
import { formatNumber, t } from '../app/text.js';
import { commonTexts } from '../texts/common.js';

export interface Series {
  name: string;
  /** One of the classes `series-1` to `series-6` of the stylesheet. */
  look: number;
  values: readonly number[];
}

const [width, height] = [600, 120];

/** Stacked bars over time, drawn small, with the same numbers as a table. `labels` name the bars. */
export function BarChart({
  title,
  labels,
  series,
}: {
  title: string;
  labels: readonly string[];
  series: readonly Series[];
}) {
  const id = useId();
  const totals = labels.map((_, place) => series.reduce((sum, { values }) => sum + (values[place] ?? 0), 0));
  const top = Math.max(1, ...totals);
  const step = width / Math.max(1, labels.length);
  return (
    <figure class="chart">
      <figcaption id={id}>{title}</figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-labelledby={id} preserveAspectRatio="none">
        {labels.map((label, place) => {
          let from = height;
          return series.map(({ name, look, values }) => {
            const value = values[place] ?? 0;
            const size = (value / top) * (height - 4);
            from -= size;
            return (
              value > 0 && (
                <rect
                  key={name + label}
                  class={`series-${look}`}
                  x={place * step + 1}
                  y={from}
                  width={Math.max(1, step - 2)}
                  height={size}
                >
                  <title>{`${label}: ${name} ${formatNumber(value)}`}</title>
                </rect>
              )
            );
          });
        })}
      </svg>
      <ul class="legend">
        {series.map(({ name, look, values }) => (
          <li key={name}>
            <span class={`key series-${look}`} aria-hidden="true" /> {name}:{' '}
            {formatNumber(values.reduce((a, b) => a + b, 0))}
          </li>
        ))}
      </ul>
      <details>
        <summary>{t(commonTexts.asTable)}</summary>
        <div class="scroll" tabIndex={0} role="region" aria-labelledby={id}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t(commonTexts.time)}</th>
                {series.map(({ name }) => (
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
                  {series.map(({ name, values }) => (
                    <td key={name} class="number">
                      {formatNumber(values[place] ?? 0)}
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
