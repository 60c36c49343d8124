import { client, type Outputs } from '../../../api/trpc.ts';
import { csvOf } from '../../../parts/csv.ts';
import { saveAs } from '../../../parts/download.ts';
import type { AuditFilter } from './filter.ts';
import { words } from './strings.ts';

type Entry = Outputs['audit']['list']['data'][number];

const MAX_ROWS = 10_000;
const PAGE_ROWS = 100;
/** A page may be short if few entries match. */
const MAX_PAGES = 500;

interface Export {
  readonly count: number;
  readonly complete: boolean;
}

/** Downloads the entries that a filter selects as CSV, newest first. */
export async function exportEntries(filter: AuditFilter): Promise<Export> {
  const { rows, complete } = await collect(filter);
  saveAs(`audit-log-${filter.chain}.csv`, csvOf(Object.values(words.exporting.columns), rows.map(cellsOf)), 'text/csv');
  return { count: rows.length, complete };
}

async function collect(filter: AuditFilter): Promise<{ readonly rows: readonly Entry[]; readonly complete: boolean }> {
  const rows: Entry[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && rows.length < MAX_ROWS; page += 1) {
    const { data, next_cursor } = await client.audit.list.query({
      ...filter,
      limit: PAGE_ROWS,
      ...(cursor && { cursor }),
    });
    rows.push(...data);
    if (next_cursor === null) return { rows, complete: true };
    cursor = next_cursor;
  }
  return { rows, complete: false };
}

function cellsOf(entry: Entry): readonly (string | number | null)[] {
  const cells: Record<keyof typeof words.exporting.columns, string | number | null> = {
    at: entry.at,
    actor: entry.actor.name,
    actor_id: entry.actor.id,
    action: entry.action,
    target: entry.target_id,
    diff: entry.diff && JSON.stringify(entry.diff),
    reason: entry.reason,
    via: entry.via,
    address: entry.address,
    request: entry.request_id,
    sequence: entry.sequence,
  };
  return Object.keys(words.exporting.columns).map((name) => cells[name as keyof typeof cells]);
}
