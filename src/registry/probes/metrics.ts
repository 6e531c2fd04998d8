import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry, type Metric } from 'prom-client';
import { until } from '../../base/until.js';

interface MetricsSources {
  /** Seconds by which the oldest due handshake that could start now is late. */
  lagSeconds: () => Promise<number>;
  inFlight: () => number;
  /** Undefined while the index is being loaded. */
  indexSize: () => { subscriptions: number; pairs: number; bytes: number } | undefined;
  /** Seconds since the change log was last read to its end, from a database that was current. */
  indexSecondsBehind: () => number;
  /** The number of readers, by kind. */
  feedReaders: () => Readonly<Record<string, number>>;
}

/** A value that takes longer is reported as unknown: the scraper would give up and get no metrics at all. */
const collectTimeoutMs = 2_000;

/** The documentation lists every name and label. Labels have few values, and none comes from outside. */
export class Metrics {
  readonly registry = new Registry();
  readonly #requests = new RequestDurations();
  readonly #handshakes = new Counter({
    name: 'assent_handshakes_total',
    help: 'Handshake attempts by verdict and trigger.',
    labelNames: ['verdict', 'trigger'],
    registers: [this.registry],
  });
  readonly #durations = new Histogram({
    name: 'assent_handshake_duration_seconds',
    help: 'Duration of handshake attempts, from the claim to the settled outcome.',
    buckets: [0.01, 0.05, 0.2, 1, 5, 10, 30],
    registers: [this.registry],
  });
  readonly #claims = new Histogram({
    name: 'assent_claim_duration_seconds',
    help: 'Duration of claims of due handshakes.',
    buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8],
    registers: [this.registry],
  });
  readonly #sent = new Counter({
    name: 'assent_feed_changes_sent_total',
    help: 'Changes sent to readers of the feed.',
    registers: [this.registry],
  });
  readonly #pages = new Counter({
    name: 'assent_feed_pages_total',
    help: 'Pages of changes by source.',
    labelNames: ['source'],
    registers: [this.registry],
  });
  readonly #pageSeries = { memory: this.#pages.labels('memory'), log: this.#pages.labels('log') };
  readonly #leases = new Counter({
    name: 'assent_leases_total',
    help: 'Responses to sender instances that requested a lease.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  readonly #leased = new Counter({
    name: 'assent_leased_requests_total',
    help: 'Requests that leases allow sender instances to send.',
    registers: [this.registry],
  });
  readonly #deliveries = new Counter({
    name: 'assent_deliveries_reported_total',
    help: 'Deliveries that senders reported, by outcome.',
    labelNames: ['kind'],
    registers: [this.registry],
  });
  readonly #holds = new Counter({
    name: 'assent_grants_held_total',
    help: 'Holds that webhooks asked for and that were applied.',
    registers: [this.registry],
  });
  readonly #overloads = new Gauge({
    name: 'assent_renewals_over_budget',
    help: 'Tenants, and hosts of tenants, that have more renewals within an hour than their budget allows.',
    registers: [this.registry],
  });
  readonly #certificateSeconds = new Gauge({
    name: 'assent_client_certificate_expiry_seconds',
    help: 'Seconds until the first client certificate of an origin expires; +Inf if there is none.',
    registers: [this.registry],
  });
  readonly #secrets = new Gauge({
    name: 'assent_secrets',
    help: 'Stored secrets by kind and by the key that encrypted them: the current one, an older one, or one that is missing here.',
    labelNames: ['kind', 'key'],
    registers: [this.registry],
  });
  readonly #unknown = new Gauge({
    name: 'assent_unknown_migrations',
    help: 'Migrations in the database that a newer version applied and this version does not know.',
    registers: [this.registry],
  });

  constructor(sources: MetricsSources) {
    this.#certificateSeconds.set(Infinity);
    collectDefaultMetrics({ register: this.registry });
    this.registry.registerMetric(this.#requests.asMetric());
    gaugeSources(this.registry, sources);
  }

  request(operation: string, status: number, seconds: number): void {
    this.#requests.observe(operation, status, seconds);
  }

  handshake({ verdict, trigger, seconds }: { verdict: string; trigger: string; seconds: number }): void {
    this.#handshakes.inc({ verdict, trigger });
    this.#durations.observe(seconds);
  }

  claim(seconds: number): void {
    this.#claims.observe(seconds);
  }

  feedPage(source: 'memory' | 'log', changes: number): void {
    this.#pageSeries[source].inc();
    this.#sent.inc(changes);
  }

  lease(outcome: string, requests: number): void {
    this.#leases.inc({ outcome });
    if (requests > 0) this.#leased.inc(requests);
  }

  delivery(kind: string, count: number): void {
    this.#deliveries.inc({ kind }, count);
  }

  held(grants: number): void {
    this.#holds.inc(grants);
  }

  renewalsOverBudget(count: number): void {
    this.#overloads.set(count);
  }

  firstCertificateExpiry(seconds: number): void {
    this.#certificateSeconds.set(seconds);
  }

  secrets(counts: Readonly<Record<string, object>>): void {
    for (const [kind, byKey] of Object.entries(counts)) {
      for (const [key, count] of Object.entries(byKey)) this.#secrets.set({ kind, key }, count as number);
    }
  }

  unknownMigrations(count: number): void {
    this.#unknown.set(count);
  }
}

/** What is read when the metrics are collected. */
function gaugeSources(registry: Registry, sources: MetricsSources): void {
  const { lagSeconds, inFlight, indexSize, indexSecondsBehind, feedReaders } = sources;
  const registers = [registry];
  new Gauge({
    name: 'assent_handshakes_in_flight',
    help: 'Handshakes in progress in this process.',
    registers,
    collect() {
      this.set(inFlight());
    },
  });
  new Gauge({
    name: 'assent_handshake_lag_seconds',
    help: 'How late the oldest due handshake is that could start now; NaN while the database does not respond.',
    registers,
    async collect() {
      const lag = lagSeconds().catch(() => NaN);
      this.set((await until(lag, { ms: collectTimeoutMs, ref: false })) ?? NaN);
    },
  });
  new Gauge({
    name: 'assent_index_subscriptions',
    help: 'Subscriptions in the index of this process.',
    registers,
    collect() {
      this.set(indexSize()?.subscriptions ?? 0);
    },
  });
  new Gauge({
    name: 'assent_index_pairs',
    help: 'Pairs of origin and sink in the index of this process.',
    registers,
    collect() {
      this.set(indexSize()?.pairs ?? 0);
    },
  });
  new Gauge({
    name: 'assent_index_bytes',
    help: 'Memory of the index outside the JavaScript heap.',
    registers,
    collect() {
      this.set(indexSize()?.bytes ?? 0);
    },
  });
  new Gauge({
    name: 'assent_index_lag_seconds',
    help: 'Time since the change log was last read to its end, from a database that was current; +Inf while unknown.',
    registers,
    collect() {
      this.set(indexSecondsBehind());
    },
  });
  new Gauge({
    name: 'assent_feed_readers',
    help: 'Connected readers of the feed by kind.',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const [kind, count] of Object.entries(feedReaders())) this.set({ kind }, count);
    },
  });
}

/** Seconds. */
const bounds = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 30];

interface Series {
  /** Observations by the first bound that they do not exceed; the last count is for those that exceed all. */
  counts: Float64Array;
  sum: number;
}

/**
 * The durations of requests by operation and status. The library's histogram takes a microsecond for each observation,
 * which is a good part of a look-up. Here an observation is two additions, and the library reads the sums on demand.
 */
class RequestDurations {
  readonly name = 'assent_http_request_duration_seconds';
  readonly help = 'Duration of requests by operation and status.';
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

  /** The library calls this to read the metric. */
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

  /** The library's type allows only its own classes, but it calls only `get`. */
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
