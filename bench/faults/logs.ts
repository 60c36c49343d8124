import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const WARNING = 40;
const RESCUED = 'rescheduled open recipients that had no live job';

/** Counts log messages above info level, and the recipients that a reconciler had to rescue. */
export function readLogs(folder: string, slots: readonly string[]) {
  const counts = new Map<string, number>();
  let rescued = 0;
  for (const line of slots.flatMap((slot) => readFileSync(join(folder, `${slot}.log`), 'utf8').split('\n'))) {
    const entry = parse(line);
    if (entry === null) continue;
    if (entry.msg === RESCUED) rescued += entry.rescued;
    if (entry.level >= WARNING) counts.set(entry.msg, (counts.get(entry.msg) ?? 0) + 1);
  }
  return { rescued, warnings: [...counts].sort(([, left], [, right]) => right - left) };
}

function parse(line: string): { msg: string; level: number; rescued: number } | null {
  if (!line.startsWith('{')) return null;
  try {
    const { msg = '', level = 0, rescued = 0 } = JSON.parse(line) as { msg?: string; level?: number; rescued?: number };
    return { msg, level, rescued };
  } catch {
    return null;
  }
}
