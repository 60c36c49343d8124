import './chart.css';
import { Fragment, type KeyboardEvent, type PointerEvent, useState } from 'react';
import type { Tone } from '../badge.tsx';

export interface ChartSeries {
  readonly name: string;
  readonly tone: Tone | 'accent';
  readonly values: readonly (number | null)[];
  /** Whether the series is only in the tooltip and the table, because it overlaps with others. */
  readonly is_listed?: boolean;
}

/** An event marked at a point. */
export interface ChartMark {
  readonly at: number;
  readonly text: string;
}

export interface ChartProps {
  readonly label: string;
  /** The time of each point, such as 11-26 10:00. */
  readonly times: readonly string[];
  /** Shorter times for the axis. */
  readonly labels?: readonly string[];
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  /** Bars add up to a total; lines are compared. */
  readonly form?: 'bars' | 'lines';
  readonly marks?: readonly ChartMark[];
  /** Opens the items that a point counts, on click or Enter. */
  readonly onPick?: (at: number) => void;
}

// Lines also differ by dashes, not by color alone.
const dashes = [undefined, '6 3', '2 3', '9 3 2 3', '1 2', '12 4'];
const HEIGHT = 100;
const BAR_WIDTH = 0.72;
const MAX_LABELS = 7;

/** Draws values over time. The arrow keys move along them, and each point is announced as text. */
export function Chart({
  label,
  times,
  labels = times,
  series,
  format,
  form = 'lines',
  marks = [],
  onPick,
}: ChartProps) {
  const [at, setAt] = useState<number | null>(null);
  const last = Math.max(0, times.length - 1);
  const point = Math.min(at ?? last, last);
  const bars = form === 'bars';
  const drawn = series.filter(({ is_listed }) => !is_listed);
  const top = bars
    ? topOf(times.map((_, index) => totalAt(drawn, index)))
    : topOf(drawn.flatMap(({ values }) => values));
  // Bars take up a step each; lines go from the first point to the last.
  const span = bars ? times.length : Math.max(1, last);
  const placeOf = (index: number) => (bars ? index + 0.5 : index);
  const marked = (index: number) => marks.filter((mark) => mark.at === index).map((mark) => mark.text);
  const textAt = (index: number) =>
    `${times[index]}: ${[...series.map(({ name, values }) => `${name} ${formatValue(values[index], format)}`), ...marked(index)].join(', ')}`;
  const move = (event: KeyboardEvent<HTMLDivElement>) => {
    const to = { ArrowRight: point + 1, ArrowLeft: point - 1, Home: 0, End: last }[event.key];
    if (event.key === 'Enter' && onPick) onPick(point);
    if (to === undefined) return;
    event.preventDefault();
    setAt(Math.min(Math.max(0, to), last));
  };
  const indexAt = ({ clientX, currentTarget }: PointerEvent<HTMLDivElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    const place = ((clientX - left) / width) * span;
    return Math.min(last, Math.max(0, bars ? Math.floor(place) : Math.round(place)));
  };
  return (
    <div>
      <div
        className={`chart ${onPick ? 'picks' : ''}`}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={point}
        aria-valuetext={textAt(point)}
        onKeyDown={move}
        onFocus={() => setAt(point)}
        onBlur={() => setAt(null)}
        onPointerMove={(event) => setAt(indexAt(event))}
        onPointerLeave={() => setAt(null)}
        onClick={() => onPick?.(point)}
      >
        <svg viewBox={`0 0 ${span} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
          {[0, 0.5, 1].map((share) => (
            <line key={share} className="grid" x1={0} x2={span} y1={HEIGHT * share} y2={HEIGHT * share} />
          ))}
          {[...new Set(marks.map((mark) => mark.at))].map((place) => (
            <line key={place} className="mark" x1={placeOf(place)} x2={placeOf(place)} y1={0} y2={HEIGHT} />
          ))}
          {at !== null && <line className="at" x1={placeOf(point)} x2={placeOf(point)} y1={0} y2={HEIGHT} />}
          {drawn.map(({ name, tone, values }, index) =>
            bars ? (
              <path key={name} className={`bar tone-${tone}`} d={barsOf(drawn, index, top)} />
            ) : (
              <Fragment key={name}>
                <path className={`tone-${tone}`} strokeDasharray={dashes[index]} d={pathOf(values, top)} />
                <path className={`dot tone-${tone}`} d={dotsOf(values, top)} />
              </Fragment>
            ),
          )}
        </svg>
        {[0, 0.5, 1].map((share) => (
          <span key={share} className="chart-level" style={{ top: `${share * 100}%` }}>
            {levelOf(top * (1 - share), top, format)}
          </span>
        ))}
        {at !== null && (
          <div
            className={`chart-tip ${placeOf(point) / span > 0.55 ? 'before' : ''}`}
            style={{ left: `${(placeOf(point) / span) * 100}%` }}
            aria-hidden
          >
            <strong>{times[point]}</strong>
            <dl>
              {series.map(({ name, tone, values }, index) => (
                <div key={name}>
                  <dt>
                    <Swatch tone={tone} bar={bars} index={index} /> {name}
                  </dt>
                  <dd>{formatValue(values[point], format)}</dd>
                </div>
              ))}
            </dl>
            {marked(point).map((text) => (
              <p key={text} className="faint">
                {text}
              </p>
            ))}
          </div>
        )}
      </div>
      <Times times={labels} placeOf={(index) => placeOf(index) / span} />
      <div className="chart-keys" aria-hidden>
        {drawn.map(({ name, tone }, index) => (
          <span key={name} className="chart-key">
            <Swatch tone={tone} bar={bars} index={index} />
            {name}
          </span>
        ))}
      </div>
    </div>
  );
}

function Times({ times, placeOf }: { readonly times: readonly string[]; readonly placeOf: (index: number) => number }) {
  const step = Math.max(1, Math.ceil(times.length / MAX_LABELS));
  return (
    <div className="chart-times" aria-hidden>
      {times.map((time, index) =>
        index % step === Math.floor(step / 2) || times.length <= MAX_LABELS ? (
          <span key={index} style={{ left: `${placeOf(index) * 100}%` }}>
            {time}
          </span>
        ) : null,
      )}
    </div>
  );
}

function Swatch({
  tone,
  bar,
  index,
}: {
  readonly tone: ChartSeries['tone'];
  readonly bar: boolean;
  readonly index: number;
}) {
  return (
    <svg viewBox="0 0 18 8" aria-hidden>
      {bar ? (
        <rect className={`bar tone-${tone}`} x={5} width={8} height={8} rx={2} />
      ) : (
        <line className={`tone-${tone}`} strokeDasharray={dashes[index]} x1={0} x2={18} y1={4} y2={4} />
      )}
    </svg>
  );
}

/** Draws a small line without axes, beside the number that it leads to. */
export function Sparkline({
  values,
  tone,
}: {
  readonly values: readonly (number | null)[];
  readonly tone: ChartSeries['tone'];
}) {
  const top = Math.max(1, ...values.map((value) => value ?? 0));
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${Math.max(1, values.length - 1)} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden
    >
      <path className={`tone-${tone}`} d={pathOf(values, top)} />
    </svg>
  );
}

function formatValue(value: number | null | undefined, format: (value: number) => string): string {
  return value == null ? '–' : format(value);
}

/** Returns the label of a level of the axis. Half of a count of one has none, because it would be rounded. */
function levelOf(value: number, top: number, format: (value: number) => string): string {
  return top < 4 && !Number.isInteger(value) ? '' : format(value);
}

function totalAt(series: readonly ChartSeries[], index: number): number {
  return series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0);
}

/** Returns a round number above every value. */
function topOf(values: readonly (number | null)[]): number {
  const max = Math.max(0, ...values.map((value) => value ?? 0));
  if (max <= 0) return 2;
  const step = 10 ** Math.floor(Math.log10(max));
  return [1, 2, 4, 5, 10].map((factor) => factor * step).find((top) => top >= max) ?? max;
}

/** Returns the bars of one series, each on top of those of the series before it. */
function barsOf(series: readonly ChartSeries[], at: number, top: number): string {
  const below = series.slice(0, at);
  return (series[at]?.values ?? [])
    .map((value, index) => {
      if (!value) return '';
      const base = HEIGHT - (totalAt(below, index) / top) * HEIGHT;
      const height = (value / top) * HEIGHT;
      const left = index + (1 - BAR_WIDTH) / 2;
      return `M${left.toFixed(3)} ${base.toFixed(2)}h${BAR_WIDTH}v${(-height).toFixed(2)}h${-BAR_WIDTH}z`;
    })
    .join('');
}

/** Returns the path of a line, with gaps where values are null. */
function pathOf(values: readonly (number | null)[], top: number): string {
  let pen = 'M';
  return values
    .map((value, index) => {
      if (value === null) {
        pen = 'M';
        return '';
      }
      const place = pointOf(index, value, top);
      const step = `${pen}${place}`;
      pen = 'L';
      return step;
    })
    .join('');
}

/** Returns the points without neighbors as lines of length 0, which round caps render as dots. */
function dotsOf(values: readonly (number | null)[], top: number): string {
  return values
    .map((value, index) => {
      if (value === null || values[index - 1] != null || values[index + 1] != null) return '';
      const place = pointOf(index, value, top);
      return `M${place}L${place}`;
    })
    .join('');
}

function pointOf(index: number, value: number, top: number): string {
  return `${index} ${(HEIGHT - (value / top) * HEIGHT).toFixed(2)}`;
}
