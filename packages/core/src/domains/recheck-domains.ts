import { setTimeout as delay } from 'node:timers/promises';
import type { Services } from '../operation/context.ts';
import { domainCheckBounds, FairLine } from '../shares/index.ts';
import { applyCheck } from './apply-check.ts';
import { siteOf } from './domain-entry.ts';
import { checkRecords } from './records/check-records.ts';
import { type DomainRow, publicKeysOf, takeDueDomains } from './store.ts';

// Longer than the slowest check, which has a deadline of a few seconds.
const HOLD_MS = 300_000;
// Less than the time after which the job counts as lost; the next minute's job continues.
const MAX_RUN_MS = 600_000;
// Domains of other workspaces may become due while the checks in flight wait for silent servers.
const POLL_MS = 1000;

type Parts = Pick<Services, 'sql' | 'clock' | 'dns' | 'config' | 'public_url' | 'log' | 'metrics'>;

/**
 * Checks all due domains, a few at a time and round-robin across workspaces, so that the silent servers of one
 * workspace do not delay the others. Safe to run in several processes.
 */
export async function recheckDomains(services: Parts): Promise<void> {
  const line = new FairLine('domain_checks', domainCheckBounds, services.metrics);
  const checks = new Map<Promise<void>, string>();
  const until = performance.now() + MAX_RUN_MS;
  for (;;) {
    const free = performance.now() < until ? domainCheckBounds.units - checks.size : 0;
    const busy = [...new Set(checks.values())].filter((workspace_id) => !line.hasRoom(workspace_id, 1));
    const due = free > 0 ? await takeDueDomains(services.sql, busy, free, HOLD_MS) : [];
    for (const row of due) {
      const leave = line.take(row.workspace_id, 1);
      const check = recheck(services, row).finally(() => {
        leave();
        checks.delete(check);
      });
      checks.set(check, row.workspace_id);
    }
    // A workspace that was busy may have due domains even though its checks ended while the others were read.
    if (checks.size === 0 && (busy.length === 0 || free === 0)) return;
    if (due.length === 0 && checks.size > 0) await Promise.race([...checks.keys(), delay(POLL_MS)]);
  }
}

/** Rechecks one domain. A failing domain does not stop the others; it is retried when its claim expires. */
async function recheck({ log, ...services }: Parts, row: DomainRow): Promise<void> {
  try {
    const keys = await publicKeysOf(services.sql, [row.id]);
    const site = await siteOf(services, row.workspace_id, row.name);
    const checked = await checkRecords(services.dns, row, keys, site);
    await applyCheck(services, { domain: row, checked, yields: true });
  } catch (error) {
    log.error({ err: error, domain: row.name }, 'failed to check a domain');
  }
}
