import type { EventType, WebhooksCreateBody } from '@postrider/sdk';
import { Problem } from '../terminal/problem.ts';
import type { Provider } from './providers.ts';
import type { Export, ExportRow } from './read-export.ts';

const MAX_REASON_LENGTH = 200;

interface Rest {
  /** The skipped lines, with the reasons. */
  readonly skipped: readonly { readonly line: number; readonly why: string }[];
  readonly unknown_columns: readonly string[];
}
export interface SuppressionPlan extends Rest {
  readonly entries: readonly { readonly line: number; readonly email: string; readonly reason: string }[];
}
export interface DomainPlan extends Rest {
  readonly names: readonly string[];
}
export interface WebhookPlan extends Rest {
  readonly webhooks: readonly WebhooksCreateBody[];
}

export function planSuppressions(file: string, { columns, rows }: Export, provider: Provider): SuppressionPlan {
  const { email, reason, left } = provider.suppressions;
  const read = readerOf(file, columns, email, [...reason, ...left]);
  const entries = new Map<string, SuppressionPlan['entries'][number]>();
  const skipped: { line: number; why: string }[] = [];
  for (const row of rows) {
    const address = read.text(row, email);
    const known = entries.get(address.toLowerCase());
    if (!address.includes('@'))
      skipped.push({ line: row.line, why: `${address || 'an empty cell'} is not an email address` });
    else if (known) skipped.push({ line: row.line, why: `${address} is also on line ${known.line}` });
    else {
      const facts = reason.map((column) => read.text(row, column)).filter((fact) => fact !== '');
      const text = [`from ${provider.name}`, ...facts].join(', ').replace(/\s+/g, ' ').slice(0, MAX_REASON_LENGTH);
      entries.set(address.toLowerCase(), { line: row.line, email: address, reason: text.toWellFormed() });
    }
  }
  return { entries: [...entries.values()], skipped, unknown_columns: read.unknown };
}

export function planDomains(file: string, { columns, rows }: Export, provider: Provider): DomainPlan {
  const { name, left } = provider.domains;
  const read = readerOf(file, columns, name, left);
  const names = rows.map((row) => ({ line: row.line, name: read.text(row, name).toLowerCase() }));
  const isDomain = (row: { readonly name: string }) => row.name !== '' && !row.name.includes('@');
  const skipped = names
    .filter((row) => !isDomain(row))
    .map((row) => ({ line: row.line, why: row.name === '' ? 'it has no domain' : `${row.name} is not a domain` }));
  return {
    names: [...new Set(names.filter(isDomain).map((row) => row.name))],
    skipped,
    unknown_columns: read.unknown,
  };
}

export function planWebhooks(file: string, { columns, rows }: Export, provider: Provider): WebhookPlan {
  const { url: column, left, format, types, events } = provider.webhooks;
  const read = readerOf(file, columns, column, left);
  const skipped: { line: number; why: string }[] = [];
  const endpoints = new Map<string, { readonly line: number; readonly events: Set<EventType> }>();
  for (const row of rows) {
    const url = read.text(row, column);
    const note = (reason: string) => skipped.push({ line: row.line, why: `${url || 'no URL'}: ${reason}` });
    const event_names = events(row.fields);
    const event_types = (event_names ?? []).flatMap((name) => types[name] ?? []);
    const strange = (event_names ?? []).filter((name) => !types[name]);
    if (url === '') note('skipped');
    else if (event_names === null) note('it is disabled');
    else if (event_types.length === 0)
      note(`it has no events that Postrider supports (its events: ${event_names.join(', ') || 'none'})`);
    else {
      if (strange.length > 0) note(`added without ${strange.join(', ')}, which Postrider does not support`);
      // Postmark has one webhook per message stream; two with the same URL would post their common events twice.
      const first = endpoints.get(url);
      if (first) note(`it has the same URL as entry ${first.line}, which includes its events`);
      endpoints.set(url, {
        line: first?.line ?? row.line,
        events: new Set([...(first?.events ?? []), ...event_types]),
      });
    }
  }
  const webhooks = [...endpoints].map(([url, one]) => ({ url, format, events: [...one.events].sort() }));
  return { webhooks, skipped, unknown_columns: read.unknown };
}

function readerOf(file: string, columns: readonly string[], needed: string, optional: readonly string[]) {
  const by_name = new Map(columns.map((column) => [plainName(column), column]));
  if (columns.length > 0 && !by_name.has(plainName(needed))) {
    throw new Problem({
      reason: 'missing_column',
      message: `${file} has no column ${needed}. Its columns: ${columns.join(', ')}.`,
      advice: 'Check that the file is the right kind of export and comes from the right provider.',
    });
  }
  const known = new Set([needed, ...optional].map(plainName));
  return {
    unknown: columns.filter((column) => !known.has(plainName(column))),
    text({ fields }: ExportRow, column: string): string {
      const value = fields[by_name.get(plainName(column)) ?? ''];
      return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
    },
  };
}

function plainName(column: string): string {
  return column.toLowerCase().replace(/[\s_-]/g, '');
}
