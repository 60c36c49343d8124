import {
  type CounterName,
  type GaugeName,
  type HistogramName,
  type InstanceMetric,
  type LabelsOf,
  type MetricName,
  metricBuckets,
  metricCatalogue,
  metricDefinition,
} from './metric-catalogue.ts';

// Callers bound their labels; this limits the impact of a mistake.
const MAX_SERIES = 500;
const BEYOND = 'other';

export interface HistogramValue {
  readonly bounds: readonly number[];
  /** One count per bound, and one for larger values. */
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
}

export interface MetricPoint {
  readonly labels: readonly string[];
  readonly value: number | HistogramValue;
}

export interface MetricReading {
  readonly name: MetricName;
  readonly points: readonly MetricPoint[];
}

/** A gauge of the whole instance, as read by one process. */
export interface InstanceReading {
  readonly name: InstanceMetric;
  readonly labels: readonly string[];
  readonly value: number;
}

/** Gauges of this process that are evaluated on demand. */
export type SourcedGauge = 'pg_pool_waiting' | 'unrecorded_mails_limit';

/** The metrics of a process: plain numbers in memory that an exporter reads on demand. */
export interface Metrics {
  count<N extends CounterName>(name: N, labels: LabelsOf<N>, amount?: number): void;
  observe<N extends HistogramName>(name: N, labels: LabelsOf<N>, value: number): void;
  /** Increases or decreases a gauge of this process. */
  shift<N extends Exclude<GaugeName, InstanceMetric>>(name: N, labels: LabelsOf<N>, amount: number): void;
  /** Registers a function that provides a gauge without labels whenever the metrics are read. */
  source(name: SourcedGauge, value: () => number): void;
  /** Sets the gauges of the instance; null means that another process reads them. */
  publish(readings: readonly InstanceReading[] | null): void;
  /** Returns every metric in the catalog, including those without points. */
  read(): MetricReading[];
}

interface Series {
  readonly labels: readonly string[];
  value: number;
  /** Set for histograms only. */
  readonly counts: number[] | null;
  sum: number;
}

export function createMetrics(): Metrics {
  return new ProcessMetrics();
}

class ProcessMetrics implements Metrics {
  readonly #series = new Map<MetricName, Map<string, Series>>();
  readonly #sources = new Map<MetricName, () => number>();
  #instance: readonly InstanceReading[] = [];

  constructor() {
    for (const name of namesOf()) {
      this.#series.set(name, new Map());
      const { kind, of: owner, labels, known } = metricDefinition(name);
      if (owner === 'instance') continue;
      for (const value of known ?? []) this.#at(name, [value]);
      if (labels.length === 0 && kind !== 'gauge') this.#at(name, []);
    }
  }

  count<N extends CounterName>(name: N, labels: LabelsOf<N>, amount = 1): void {
    this.#at(name, labels).value += amount;
  }

  shift<N extends Exclude<GaugeName, InstanceMetric>>(name: N, labels: LabelsOf<N>, amount: number): void {
    this.#at(name, labels).value += amount;
  }

  observe<N extends HistogramName>(name: N, labels: LabelsOf<N>, value: number): void {
    const series = this.#at(name, labels);
    const bounds = boundsOf(name);
    let at = 0;
    while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1;
    if (series.counts) series.counts[at] = (series.counts[at] ?? 0) + 1;
    series.sum += value;
    series.value += 1;
  }

  source(name: SourcedGauge, value: () => number): void {
    this.#sources.set(name, value);
  }

  publish(readings: readonly InstanceReading[] | null): void {
    this.#instance = readings ?? [];
  }

  read(): MetricReading[] {
    const instance_scopes = Map.groupBy(this.#instance, ({ name }) => name);
    return namesOf().map((name) => {
      const source = this.#sources.get(name);
      const own = [...(this.#series.get(name)?.values() ?? [])].map((series) => pointOf(name, series));
      if (source) own.push({ labels: [], value: source() });
      // Only instance metrics are published.
      return { name, points: [...own, ...(instance_scopes.get(name as InstanceMetric) ?? [])] };
    });
  }

  #at(name: MetricName, labels: readonly string[]): Series {
    const all = this.#series.get(name);
    if (!all) throw new Error(`${name} is not in the catalogue of metrics`);
    const key = labels.length === 1 ? (labels[0] ?? '') : labels.join('\n');
    const known = all.get(key);
    if (known) return known;
    if (all.size >= MAX_SERIES && !labels.every((label) => label === BEYOND)) {
      return this.#at(
        name,
        labels.map(() => BEYOND),
      );
    }
    const { kind } = metricDefinition(name);
    const counts = kind === 'histogram' ? Array<number>(boundsOf(name).length + 1).fill(0) : null;
    const series: Series = { labels: [...labels], value: 0, counts, sum: 0 };
    all.set(key, series);
    return series;
  }
}

function boundsOf(name: MetricName): readonly number[] {
  return metricBuckets[metricDefinition(name).buckets ?? 'request'];
}

function pointOf(name: MetricName, { labels, value, counts, sum }: Series): MetricPoint {
  if (counts === null) return { labels, value };
  return { labels, value: { bounds: boundsOf(name), counts: [...counts], sum, count: value } };
}

function namesOf(): MetricName[] {
  // The keys of `metricCatalogue` are the metric names.
  return Object.keys(metricCatalogue) as MetricName[];
}
