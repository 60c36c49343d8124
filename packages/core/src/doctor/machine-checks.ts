import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Sql } from '@postrider/db';
import type { Config } from '../process/config.ts';
import { type Disk, diskOf, growthOf } from '../storage/index.ts';
import { duration, type Finding, failing, ok, skipped, warning } from './finding.ts';

const DAY_MS = 86_400_000;
const CERTIFICATE_DAYS = { warning: 21, failing: 3 };
const DISK_DAYS = { warning: 30, failing: 7 };
const MIN_FREE_BYTES = 1e9;
const MIN_FREE_SHARE = 0.1;

/** Checks the disk of the embedded database; the disk of an external server is not visible from here. */
export async function checkDisk(sql: Sql, config: Config): Promise<Finding> {
  if ((await diskOf(config)) === null) return skipped('The disk of the DATABASE_URL server is not visible from here.');
  const { disk, days_until_full } = await growthOf(sql, config);
  return disk === null ? skipped('The disk could not be read.') : judgeDisk(disk, days_until_full);
}

/** Judges the free disk space; null for days_until_full means that the disk never fills up. */
export function judgeDisk({ free_bytes, total_bytes }: Disk, days_until_full: number | null): Finding {
  const days = days_until_full ?? Number.POSITIVE_INFINITY;
  const gigabytes = (free_bytes / 1e9).toFixed(1);
  const remaining = days < 3650 ? `, enough for ${duration(days * 86_400)} at the current rate` : '';
  const summary = `${gigabytes} GB free${remaining}.`;
  const fix = 'Free up space or enlarge the disk. Shorter retention deletes old months.';
  if (free_bytes < MIN_FREE_BYTES || days < DISK_DAYS.failing) return failing(summary, fix);
  if (free_bytes < total_bytes * MIN_FREE_SHARE || days < DISK_DAYS.warning) return warning(summary, fix);
  return ok(summary);
}

export async function checkCertificate(config: Pick<Config, 'TLS_CERT_FILE'>, now_ms: number): Promise<Finding> {
  if (config.TLS_CERT_FILE === undefined) return skipped('TLS_CERT_FILE is not set.');
  const { validTo } = new X509Certificate(await readFile(config.TLS_CERT_FILE));
  const days = Math.floor((Date.parse(validTo) - now_ms) / DAY_MS);
  const fix = 'Renew the certificate and update TLS_CERT_FILE and TLS_KEY_FILE.';
  if (days < 0) return failing(`The certificate expired ${-days} days ago.`, fix);
  const summary = `The certificate expires in ${days} days.`;
  if (days < CERTIFICATE_DAYS.failing) return failing(summary, fix);
  return days < CERTIFICATE_DAYS.warning ? warning(summary, fix) : ok(summary);
}
