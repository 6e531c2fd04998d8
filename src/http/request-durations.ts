import type { Metric } from 'prom-client';

/** Seconds. */
const bounds = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 30];

interface Series {
  /** Observations by the first bound that they do not exceed; the last ones exceed all. */
  counts: Float64Array;
  sum: number;
}

/**
 * The durations of requests by operation and status. A histogram of the library takes a microsecond for each
 * observation, which is a good part of a look-up: here it is two additions, and the library sees the sums when it asks.
 */
export class RequestDurations {
  readonly name = 'assent_http_request_duration_seconds';
  readonly help = 'Requests by operation and status.';
  readonly labelNames = ['operation', 'status'];
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly #series = new Map<string, Map<number, Series>>();

  observe(operation: string, status: number, seconds: number): void {
    const series = this.#series.get(operation)?.get(status) ?? this.#begin(operation, status);
    let place = 0;
    while (place < bounds.length && seconds > (bounds[place] as number)) place += 1;
    series.counts[place]! += 1;
    series.sum += seconds;
  }

  /** What the library asks a metric for. */
  async get() {
    const values: Array<{ metricName: string; labels: Record<string, string | number>; value: number }> = [];
    for (const [operation, statuses] of this.#series) {
      for (const [status, { counts, sum }] of statuses) {
        const labels = { operation, status };
        const add = (suffix: string, value: number, le?: number | string) =>
          values.push({
            metricName: `${this.name}_${suffix}`,
            labels: le === undefined ? labels : { le, ...labels },
            value,
          });
        let count = 0;
        counts.forEach((more, place) => add('bucket', (count += more), bounds[place] ?? '+Inf'));
        add('sum', sum);
        add('count', count);
      }
    }
    const { name, help, type, aggregator } = this;
    return { name, help, type, aggregator, values };
  }

  /** The library's type has only its own classes, and it calls nothing but `get`. */
  asMetric(): Metric {
    return this as unknown as Metric;
  }

  #begin(operation: string, status: number): Series {
    const series = { counts: new Float64Array(bounds.length + 1), sum: 0 };
    const statuses = this.#series.get(operation) ?? new Map<number, Series>();
    this.#series.set(operation, statuses.set(status, series));
    return series;
  }
}
