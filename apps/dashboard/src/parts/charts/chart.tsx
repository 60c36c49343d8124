import './chart.css';
import { Fragment, type KeyboardEvent, type PointerEvent, useState } from 'react';
import type { Tone } from '../badge.tsx';

export interface ChartSeries {
  readonly name: string;
  readonly tone: Tone | 'accent';
  readonly values: readonly (number | null)[];
}

/** An event marked at a point. */
export interface ChartMark {
  readonly at: number;
  readonly text: string;
}

export interface ChartProps {
  readonly label: string;
  /** The label of each point, such as 10:00. */
  readonly times: readonly string[];
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  readonly marks?: readonly ChartMark[];
  /** Opens the items that a point counts, on click or Enter. */
  readonly onPick?: (at: number) => void;
}

// Lines also differ by dashes, not by color alone.
const dashes = [undefined, '6 3', '2 3', '9 3 2 3', '1 2', '12 4'];
const HEIGHT = 100;

/** Draws lines over time. The arrow keys move along them, and each point is announced as text. */
export function Chart({ label, times, series, format, marks = [], onPick }: ChartProps) {
  const [at, setAt] = useState<number | null>(null);
  const last = Math.max(0, times.length - 1);
  const top = topOf(series);
  const point = Math.min(at ?? last, last);
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
    return Math.min(last, Math.max(0, Math.round(((clientX - left) / width) * last)));
  };
  return (
    <div>
      <div
        className="chart"
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={point}
        aria-valuetext={textAt(point)}
        onKeyDown={move}
        onFocus={() => setAt(point)}
        onPointerMove={(event) => setAt(indexAt(event))}
        onPointerLeave={() => setAt(null)}
        onClick={() => onPick?.(point)}
      >
        <svg viewBox={`0 0 ${Math.max(1, last)} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
          {[0, 0.5, 1].map((share) => (
            <line key={share} className="grid" x1={0} x2={Math.max(1, last)} y1={HEIGHT * share} y2={HEIGHT * share} />
          ))}
          {[...new Set(marks.map((mark) => mark.at))].map((place) => (
            <line key={place} className="mark" x1={place} x2={place} y1={0} y2={HEIGHT} />
          ))}
          {at !== null && <line className="at" x1={point} x2={point} y1={0} y2={HEIGHT} />}
          {series.map(({ name, tone, values }, index) => (
            <Fragment key={name}>
              <path className={`tone-${tone}`} strokeDasharray={dashes[index]} d={pathOf(values, top)} />
              <path className={`dot tone-${tone}`} d={dotsOf(values, top)} />
            </Fragment>
          ))}
        </svg>
        {[0, 0.5, 1].map((share) => (
          <span key={share} className="chart-level" style={{ top: `${share * 100}%` }}>
            {format(top * (1 - share))}
          </span>
        ))}
      </div>
      <div className="chart-times" aria-hidden>
        <span>{times[0]}</span>
        <span>{times[Math.round(last / 2)]}</span>
        <span>{times[last]}</span>
      </div>
      <div className="chart-readout" aria-hidden>
        {series.map(({ name, tone, values }, index) => (
          <span key={name} className="chart-key">
            <svg viewBox="0 0 18 8" aria-hidden>
              <line className={`tone-${tone}`} strokeDasharray={dashes[index]} x1={0} x2={18} y1={4} y2={4} />
            </svg>
            {name}
            {at !== null && <strong>{formatValue(values[point], format)}</strong>}
          </span>
        ))}
        {at !== null && <span className="faint">{[times[point], ...marked(point)].join(' · ')}</span>}
      </div>
    </div>
  );
}

function formatValue(value: number | null | undefined, format: (value: number) => string): string {
  return value == null ? '–' : format(value);
}

/** Returns a round number above every value. */
function topOf(series: readonly ChartSeries[]): number {
  const max = Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  if (max <= 0) return 2;
  const step = 10 ** Math.floor(Math.log10(max));
  return [1, 2, 4, 5, 10].map((factor) => factor * step).find((top) => top >= max) ?? max;
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
      const place = placeOf(index, value, top);
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
      const place = placeOf(index, value, top);
      return `M${place}L${place}`;
    })
    .join('');
}

function placeOf(index: number, value: number, top: number): string {
  return `${index} ${(HEIGHT - (value / top) * HEIGHT).toFixed(2)}`;
}
