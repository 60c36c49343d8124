import type { Sql, Tx } from '@postrider/db';

export interface FactorRow {
  /** Encrypted. */
  readonly secret: Buffer;
  readonly active_at: Date;
}

export async function readFactor(sql: Sql | Tx, user_id: string): Promise<FactorRow | null> {
  const [row] = await sql<FactorRow[]>`select secret, active_at from totp_factors where user_id = ${user_id}`;
  return row ?? null;
}

export async function hasFactor(sql: Sql | Tx, user_id: string): Promise<boolean> {
  const rows = await sql`select from totp_factors where user_id = ${user_id}`;
  return rows.length > 0;
}

/** Stores the secret of an app that is being set up, instead of an earlier one. */
export async function writeCandidate(tx: Tx, user_id: string, secret: Buffer): Promise<void> {
  await tx`
    insert into totp_candidates (user_id, secret, created_at) values (${user_id}, ${secret}, clock_now())
    on conflict (user_id) do update set secret = excluded.secret, created_at = excluded.created_at`;
}

/** Returns the encrypted secret of the app that is being set up. */
export async function readCandidate(tx: Tx, user_id: string): Promise<Buffer | null> {
  const [row] = await tx<{ secret: Buffer }[]>`select secret from totp_candidates where user_id = ${user_id}`;
  return row?.secret ?? null;
}

/** Makes the app that is being set up the person's factor, with the step of its first code. */
export async function activateCandidate(tx: Tx, user_id: string, step: number): Promise<void> {
  await tx`
    with candidate as (delete from totp_candidates where user_id = ${user_id} returning secret)
    insert into totp_factors (user_id, secret, active_at, last_step)
    select ${user_id}, c.secret, clock_now(), ${step} from candidate c
    on conflict (user_id) do update set secret = excluded.secret, active_at = excluded.active_at,
      last_step = excluded.last_step`;
}

/** Uses up a step and those before it; returns false if it is used up, or if the factor was removed. */
export async function useStep(tx: Tx, user_id: string, step: number): Promise<boolean> {
  const rows = await tx`
    update totp_factors set last_step = ${step}
    where user_id = ${user_id} and last_step < ${step} returning user_id`;
  return rows.length > 0;
}

export async function replaceRecoveryCodes(tx: Tx, user_id: string, hashes: readonly Buffer[]): Promise<void> {
  await tx`delete from recovery_codes where user_id = ${user_id}`;
  await tx`
    insert into recovery_codes (user_id, code_hash)
    select ${user_id}, decode(h, 'hex') from unnest(${hashes.map((one) => one.toString('hex'))}::text[]) as h`;
}

/** Uses up a recovery code; returns false if the person does not have it. */
export async function useRecoveryCode(tx: Tx, user_id: string, code_hash: Buffer): Promise<boolean> {
  const rows = await tx`
    delete from recovery_codes where user_id = ${user_id} and code_hash = ${code_hash} returning user_id`;
  return rows.length > 0;
}

export async function recoveryCodeCount(sql: Sql | Tx, user_id: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from recovery_codes where user_id = ${user_id}`;
  return row?.count ?? 0;
}

/** Deletes a person's second factor with its recovery codes. The caller has locked the user. */
export async function deleteFactors(tx: Tx, user_id: string): Promise<void> {
  await tx`delete from recovery_codes where user_id = ${user_id}`;
  await tx`delete from code_failures where user_id = ${user_id}`;
  await tx`delete from pending_sign_ins where user_id = ${user_id}`;
  await tx`delete from totp_candidates where user_id = ${user_id}`;
  await tx`delete from totp_factors where user_id = ${user_id}`;
}

export interface CodeLimits {
  readonly window: number;
  readonly day: number;
}

/**
 * Counts a code as wrong before it is checked, so that concurrent ones cannot exceed a limit; returns null above one.
 * `last` means that no other code will be checked before the count begins again.
 */
export async function countCode(
  sql: Sql,
  user_id: string,
  { window, day }: CodeLimits,
): Promise<{ readonly last: boolean } | null> {
  const in_window = sql`f.began_at > clock_now() - interval '15 minutes'`;
  const in_day = sql`f.day_began_at > clock_now() - interval '1 day'`;
  const [row] = await sql<{ last: boolean }[]>`
    insert into code_failures as f (user_id, began_at, failed, day_began_at, day_failed)
    values (${user_id}, clock_now(), 1, clock_now(), 1)
    on conflict (user_id) do update set
      failed = case when ${in_window} then f.failed + 1 else 1 end,
      began_at = case when ${in_window} then f.began_at else clock_now() end,
      day_failed = case when ${in_day} then f.day_failed + 1 else 1 end,
      day_began_at = case when ${in_day} then f.day_began_at else clock_now() end
    where not (${in_window} and f.failed >= ${window}) and not (${in_day} and f.day_failed >= ${day})
    returning failed >= ${window} or day_failed >= ${day} as last`;
  return row ?? null;
}

/** Returns how many minutes it takes until a code is checked again. */
export async function minutesLocked(sql: Sql, user_id: string, { window, day }: CodeLimits): Promise<number> {
  const [row] = await sql<{ minutes: number }[]>`
    select ceil(extract(epoch from greatest(
      case when failed >= ${window} then began_at + interval '15 minutes' end,
      case when day_failed >= ${day} then day_began_at + interval '1 day' end) - clock_now()) / 60)::int as minutes
    from code_failures where user_id = ${user_id}`;
  return Math.max(1, row?.minutes ?? 1);
}

export async function forgiveCode(tx: Tx, user_id: string): Promise<void> {
  await tx`
    update code_failures set failed = greatest(0, failed - 1), day_failed = greatest(0, day_failed - 1)
    where user_id = ${user_id}`;
}

export async function forgetCandidates(sql: Sql | Tx): Promise<void> {
  await sql`delete from totp_candidates where created_at < clock_now() - interval '1 day'`;
}
