import { sqlState, type Tx } from '@postrider/db';
import { recordEvent } from '../events/index.ts';
import { newId } from '../fields/ids.ts';
import type { Services } from '../operation/context.ts';
import { checkName } from './domain-entry.ts';
import { planKeys } from './keys/key-plan.ts';
import { type CheckedRecord, proofOf, reasonOf, statusOf } from './records/check-records.ts';
import { type Finding, MAX_SHOWN } from './records/diagnose.ts';
import { OWNERSHIP } from './records/dns-records.ts';
import { domainTransitions, judgeProof, nextCheckMs } from './state.ts';
import {
  type DomainRow,
  deleteKeys,
  type KeySighting,
  lockClaimHolder,
  lockDomain,
  moveDomain,
  publicKeysOf,
  recordCheck,
  recordSightings,
  scheduleCheck,
  switchKeys,
} from './store.ts';

/**
 * claimed: the records are right, but another workspace verified the name first. gone: it was removed during the check.
 */
export type ApplyResult =
  | { readonly kind: 'applied'; readonly row: DomainRow }
  | { readonly kind: 'claimed' }
  | { readonly kind: 'gone' };

const CLAIMED_REASON = 'Another workspace verified this domain.';
const YIELDED_REASON = 'The ownership record is missing, and another workspace verified this domain.';

const UNIQUE_VIOLATION = '23505';
const MAX_WAIT_SECONDS = 7 * 86_400;

export interface Check {
  /** The domain as it was before the lookups. */
  readonly domain: DomainRow;
  readonly checked: readonly CheckedRecord[];
  /** Background checks are dropped if another check, possibly a newer one, has been recorded since. */
  readonly yields: boolean;
  /** Performs further writes in the same commit, after all others. */
  record?(tx: Tx, before: DomainRow, after: DomainRow): Promise<void>;
}

/**
 * Records the findings, and changes the state of the domain and its keys if the findings prove or refute them. Performs
 * no lookups.
 */
export async function applyCheck(services: Pick<Services, 'sql' | 'clock'>, check: Check): Promise<ApplyResult> {
  try {
    return await apply(services, check, false);
  } catch (error) {
    // domains_claim: another workspace verified the name first.
    if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
    return apply(services, check, true);
  }
}

async function apply(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  { domain, checked: looked_up, yields, record }: Check,
  is_rejected: boolean,
): Promise<ApplyResult> {
  const domain_id = domain.id;
  return sql.begin(async (tx): Promise<ApplyResult> => {
    const holder = is_rejected ? await lockClaimHolder(tx, domain.workspace_id, domain.name) : null;
    const before = await lockDomain(tx, domain_id);
    if (!before) return { kind: 'gone' };
    // The record of a return path that has since been replaced says nothing about the new one.
    const replaced = before.return_path !== domain.return_path;
    const checked = looked_up.filter(({ expected }) => !replaced || expected.purpose !== 'return_path');
    // A name verified by another workspace belongs to it for as long as its record is in the DNS.
    const claimed = holder !== null && isPublished(holder, checked);
    if (holder && !claimed) await yieldClaim(tx, clock, holder);
    const overtaken = before.last_checked_at?.getTime() !== domain.last_checked_at?.getTime();
    if (yields && overtaken) return { kind: 'applied', row: before };
    const signing_key_ids = await applyToKeys(tx, before, checked);
    const proof = proofOf(checked);
    // Correct records prove nothing while another workspace holds the name, so such a domain also fails eventually.
    const name = judgeProof(before.status, claimed ? 'wrong' : proof, before.in_state_ms);
    await recordCheck(tx, domain_id, {
      checks: JSON.stringify(
        Object.fromEntries(checked.map(({ expected, finding }) => [checkName(expected), finding])),
      ),
      status_reason: claimed ? CLAIMED_REASON : reasonOf(checked),
      signing_key_ids,
      return_path_ready: returnPathReady(checked),
    });
    const moved = name && (await moveDomain(tx, name, domain_id));
    const rotating = (await publicKeysOf(tx, [domain_id])).some((key) => key.role === 'next');
    const { status } = moved ?? before;
    const unanswered = proof === 'unknown';
    const next_ms = nextCheckMs(status, moved ? 0 : before.in_state_ms, { unanswered, rotating });
    const row = await scheduleCheck(tx, domain_id, replaced && status !== 'suspended' ? 0 : next_ms);
    if (!row) return { kind: 'gone' };
    const event = name && domainTransitions[name].event;
    if (moved && event) {
      const { workspace_id, status_reason } = row;
      const facts = { domain: { id: row.id, name: row.name, status, status_reason } };
      await recordEvent(tx, { workspace_id, id: newId('event', clock.now()), type: event, facts });
    }
    await record?.(tx, before, row);
    return claimed ? { kind: 'claimed' } : { kind: 'applied', row };
  });
}

/** Returns whether the record with which another workspace proved the same name is among those just found. */
function isPublished({ ownership_token }: DomainRow, checked: readonly CheckedRecord[]): boolean {
  const values = checked.find(({ expected }) => expected.purpose === 'ownership')?.finding.found;
  if (ownership_token === null || values === undefined || values.length >= MAX_SHOWN) return true;
  return values.some((text) => text.includes(`${OWNERSHIP}${ownership_token}`));
}

/** Takes the name from its holder: it goes to the workspace whose record is in the DNS now. */
async function yieldClaim(tx: Tx, clock: Services['clock'], holder: DomainRow): Promise<void> {
  const moved = await moveDomain(tx, 'yield_claim', holder.id, YIELDED_REASON);
  if (!moved) return;
  await scheduleCheck(tx, holder.id, nextCheckMs(moved.status, 0, { unanswered: false, rotating: false }));
  const { id, name, status, workspace_id, status_reason } = moved;
  const facts = { domain: { id, name, status, status_reason } };
  await recordEvent(tx, { workspace_id, id: newId('event', clock.now()), type: 'domain.failed', facts });
}

/** Stores the findings per key, activates the next keys when due, and returns the signing keys. */
async function applyToKeys(
  tx: Parameters<typeof lockDomain>[0],
  before: DomainRow,
  checked: readonly CheckedRecord[],
): Promise<readonly string[]> {
  const findings = new Map(
    checked.flatMap(({ expected, finding }): [string, Finding][] =>
      expected.key_id ? [[expected.key_id, finding]] : [],
    ),
  );
  await recordSightings(
    tx,
    [...findings].flatMap(([id, finding]): KeySighting[] => {
      const status = statusOf(finding);
      if (status === 'lookup_error') return [];
      const foreign = status === 'ok' || finding.ttl_seconds === null ? 0 : finding.ttl_seconds;
      return [{ id, right: status === 'ok', wait_seconds: Math.min(foreign, MAX_WAIT_SECONDS) }];
    }),
  );
  const keys = await publicKeysOf(tx, [before.id]);
  const status = (id: string) => {
    const finding = findings.get(id);
    return finding && statusOf(finding);
  };
  const plan = planKeys(keys, status, before.signing_key_ids);
  if (plan.switches) await switchKeys(tx, before.id);
  if (plan.drop.length > 0) await deleteKeys(tx, plan.drop);
  return plan.signing;
}

/** Returns whether the return path is ready; null if the lookup failed, which keeps the stored value. */
function returnPathReady(checked: readonly CheckedRecord[]): boolean | null {
  const record = checked.find(({ expected }) => expected.purpose === 'return_path');
  const status = record && statusOf(record.finding);
  return status === undefined || status === 'lookup_error' ? null : status === 'ok';
}
