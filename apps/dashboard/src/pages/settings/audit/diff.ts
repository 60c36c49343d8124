import type { Outputs } from '../../../api/trpc.ts';
import { exactTime } from '../../../parts/times.tsx';
import { words } from './strings.ts';

type Diff = Outputs['audit']['list']['data'][number]['diff'];

interface Change {
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

interface Detail {
  readonly field: string;
  readonly value: string;
}

export interface ReadDiff {
  readonly changes: readonly Change[];
  /** What an entry says besides changes, such as the name of the domain. */
  readonly details: readonly Detail[];
  /** The fields that have no wording. */
  readonly others: Readonly<Record<string, unknown>>;
}

/** Two names in one of these fields are one value; in any other field they are the value before and after. */
const LIST_FIELDS: ReadonlySet<string> = new Set(['allowed_ips', 'domains', 'emails', 'events', 'scopes']);
/** These count minutes from midnight. */
const CLOCK_FIELDS: ReadonlySet<string> = new Set(['quiet_from', 'quiet_until']);
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;
const MAX_SUMMARY = 80;

export function readDiff(diff: Diff, utc: boolean): ReadDiff {
  const changes: Change[] = [];
  const details: Detail[] = [];
  const others: [string, unknown][] = [];
  for (const [name, content] of Object.entries(diff ?? {})) {
    const field = fieldWord(name);
    const pair = pairOf(name, content);
    const [before, after] = (pair ?? [content, content]).map((value) => valueWord(name, value, utc));
    if (before == null || after == null) others.push([name, content]);
    else if (pair) changes.push({ field, before, after });
    else details.push({ field, value: after });
  }
  return { changes, details, others: Object.fromEntries(others) };
}

/** Returns a short sentence about the diff; null if only the details say enough. */
export function summaryOf(diff: Diff, utc: boolean): string | null {
  const { changes, details } = readDiff(diff, utc);
  const sentences = [
    changes.map(({ field, before, after }) => words.diff.changed(field, before, after)).join(', '),
    words.diff.fields(changes.map(({ field }) => field).join(', ')),
    words.diff.count(changes.length),
  ];
  if (changes.length > 0) return sentences.find((text) => text.length <= MAX_SUMMARY) ?? null;
  const [first] = details;
  const detail = first ? words.diff.stated(first.field, first.value) : '';
  return detail === '' || detail.length > MAX_SUMMARY ? null : detail;
}

/** Returns the value before and after, unless the field has only one value. */
function pairOf(name: string, content: unknown): readonly [unknown, unknown] | null {
  if (Array.isArray(content)) {
    const is_list = LIST_FIELDS.has(name) && content.every((one) => typeof one === 'string');
    return content.length === 2 && !is_list ? [content[0], content[1]] : null;
  }
  if (!isObject(content) || Object.keys(content).sort().join() !== 'from,to') return null;
  return [content.from, content.to];
}

function fieldWord(name: string): string {
  const phrase = name.replaceAll('_', ' ');
  return words.fields[name] ?? phrase.charAt(0).toUpperCase() + phrase.slice(1);
}

/** Returns a value in words; null if it has an unknown shape. */
function valueWord(name: string, value: unknown, utc: boolean): string | null {
  if (value == null || value === '') return words.diff.none;
  if (typeof value === 'boolean') return value ? words.diff.yes : words.diff.no;
  if (typeof value === 'number') return CLOCK_FIELDS.has(name) ? clockTime(value) : value.toLocaleString('en');
  if (typeof value === 'string') return ISO_TIME.test(value) ? exactTime(value, utc) : value;
  if (Array.isArray(value)) {
    if (value.length === 0) return words.diff.none;
    return value.every((one) => typeof one === 'string' || typeof one === 'number') ? value.join(', ') : null;
  }
  const parts = Object.entries(value).map(([part, content]) =>
    isObject(content) ? null : words.diff.stated(fieldWord(part), valueWord(part, content, utc) ?? ''),
  );
  return parts.includes(null) ? null : parts.join(', ') || words.diff.none;
}

function clockTime(minutes: number): string {
  const two = (count: number) => String(count).padStart(2, '0');
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
