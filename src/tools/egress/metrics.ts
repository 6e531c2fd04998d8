import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

interface Sources {
  inFlight: () => number;
  /** Seconds since the permissions were known to be current. */
  age: () => number;
}

/** The documentation lists every name and label. No label comes from outside. */
export class EgressMetrics {
  readonly registry = new Registry();
  readonly #requests = new Histogram({
    name: 'assent_egress_request_duration_seconds',
    help: 'Duration of requests by outcome: that of the delivery, or the code of the problem.',
    labelNames: ['outcome'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 30],
    registers: [this.registry],
  });
  readonly #denials = new Counter({
    name: 'assent_egress_denials_total',
    help: 'Requests that were not sent, by denial.',
    labelNames: ['denial'],
    registers: [this.registry],
  });
  readonly #faults = new Counter({
    name: 'assent_egress_faults_total',
    help: 'Faults in the background, such as failed calls to the registry. The log has them.',
    registers: [this.registry],
  });

  constructor({ inFlight, age }: Sources) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    new Gauge({
      name: 'assent_egress_in_flight',
      help: 'Deliveries in progress.',
      registers,
      collect() {
        this.set(inFlight());
      },
    });
    new Gauge({
      name: 'assent_egress_replica_age_seconds',
      help: 'Seconds since the permissions were known to be current; +Inf while they are loading.',
      registers,
      collect() {
        this.set(age());
      },
    });
  }

  request(outcome: string, seconds: number): void {
    this.#requests.observe({ outcome }, seconds);
  }

  denied(denial: string): void {
    this.#denials.inc({ denial });
  }

  fault(): void {
    this.#faults.inc();
  }
}
