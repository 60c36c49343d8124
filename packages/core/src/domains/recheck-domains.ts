import type { Services } from '../operation/context.ts';
import { applyCheck } from './apply-check.ts';
import { siteOf } from './domain-entry.ts';
import { checkRecords } from './records/check-records.ts';
import { type DomainRow, publicKeysOf, takeDueDomains } from './store.ts';

const AT_ONCE = 5;
// Longer than the slowest check, which has a deadline of seconds.
const HOLD_MS = 300_000;

/** Checks all due domains, a few at a time; safe to run in several processes. */
export async function recheckDomains(
  services: Pick<Services, 'sql' | 'clock' | 'dns' | 'config' | 'public_url' | 'log'>,
): Promise<void> {
  for (;;) {
    const due = await takeDueDomains(services.sql, AT_ONCE, HOLD_MS);
    if (due.length === 0) return;
    await Promise.all(due.map((row) => recheck(services, row)));
  }
}

/** A failing domain does not stop the others; it is retried when its claim expires. */
async function recheck(
  { log, ...services }: Pick<Services, 'sql' | 'clock' | 'dns' | 'config' | 'public_url' | 'log'>,
  row: DomainRow,
): Promise<void> {
  try {
    const keys = await publicKeysOf(services.sql, [row.id]);
    const site = siteOf(services.config, services.public_url);
    const checked = await checkRecords(services.dns, row, keys, site);
    await applyCheck(services, { found: row, checked, yields: true });
  } catch (error) {
    log.error({ err: error, domain: row.name }, 'a domain could not be checked');
  }
}
