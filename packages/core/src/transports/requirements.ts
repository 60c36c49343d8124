import type { Sql, Tx } from '@postrider/db';
import type { Services } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { allTransports, missingWorkspaces, transportNamed } from './store.ts';
import { DEFAULT_TRANSPORT, MAX_OWN_RULES, type Rule, transportPurpose } from './transport.ts';

interface Fields {
  readonly host?: string | null | undefined;
  readonly port?: number | null | undefined;
  readonly tls?: string | null | undefined;
  readonly username?: string | null | undefined;
  readonly password?: unknown;
}

/** Requires that a relay has a host, that nothing else has, and that a user has a password. */
export function requireWhole(kind: 'mx' | 'smtp', fields: Fields): void {
  const { host, username, password } = fields;
  if (kind === 'smtp' && !host) throw missing('host', 'A relay needs a host.');
  if (kind === 'mx') {
    const extra = (['host', 'port', 'tls', 'username', 'password'] as const).find((name) => fields[name] != null);
    if (extra !== undefined) throw misplaced(extra, `${extra} belongs to kind smtp.`);
  }
  if (username && !password) throw missing('password', 'A user needs a password.');
  if (password && !username) throw missing('username', 'A password needs a user.');
}

export function misplaced(param: string, message: string): AppError {
  return new AppError('misplaced_field', message, { details: [{ param, reason: 'misplaced_field', message }] });
}

function missing(param: string, message: string): AppError {
  return new AppError('missing_field', message, { details: [{ param, reason: 'missing_field', message }] });
}

export async function requireFreeName(
  tx: Tx,
  workspace_id: string | null,
  name: string,
  own_id: string | null,
): Promise<void> {
  const other = await transportNamed(tx, workspace_id, name);
  if (other !== null && other !== own_id)
    throw new AppError('transport_exists', `A transport named ${name} already exists.`);
}

export function sealed({ encryption }: Pick<Services, 'encryption'>, id: string, password: string): Buffer {
  return encryption.encrypt(Buffer.from(password), transportPurpose(id));
}

/**
 * Requires that the transports of rules exist and belong to their owner, and that the workspaces exist. Rules of a
 * workspace concern no other.
 */
export async function requireRules(sql: Sql | Tx, owner_id: string | null, rules: readonly Rule[]): Promise<void> {
  const ids = new Set([DEFAULT_TRANSPORT, ...(await allTransports(sql, owner_id)).map(({ id }) => id)]);
  const workspace_ids = rules.flatMap((rule) => rule.workspace_id ?? []);
  if (owner_id !== null && workspace_ids.some((id) => id !== owner_id))
    throw misplaced('rules', 'Rules of a workspace apply to its own email only.');
  if (owner_id !== null && rules.length > MAX_OWN_RULES)
    throw misplaced('rules', `A workspace has ${MAX_OWN_RULES} rules at most.`);
  const missing_workspaces = await missingWorkspaces(sql, workspace_ids);
  for (const [index, { transports, workspace_id }] of rules.entries()) {
    const missing = transports.find((id) => !ids.has(id));
    if (missing !== undefined) throw unknownTransport(index, missing);
    if (workspace_id !== null && missing_workspaces.has(workspace_id))
      throw new AppError('workspace_not_found', `Rule ${index + 1}: no workspace with ID ${workspace_id}.`);
  }
}

function unknownTransport(index: number, id: string): AppError {
  const message = `Rule ${index + 1} names the transport ${id.slice(0, 64)}, which does not exist.`;
  return new AppError('unknown_transport', message, {
    details: [{ param: `rules[${index}].transports`, reason: 'unknown_transport', message }],
  });
}
