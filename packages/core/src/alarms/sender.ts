import { INSTANCE } from '../operation/access.ts';
import type { Services } from '../operation/context.ts';
import { type OwnerSettings, ownerSettingsOf } from './notice-store.ts';
import { senderDomain } from './store.ts';

export interface Sender {
  readonly from: string;
  /** The workspace that owns the domain, through which the email is sent. */
  readonly workspace_id: string;
  /** Whether email is captured in that workspace's test inbox instead of being delivered. */
  readonly captured: boolean;
}

/** Returns the sender of an owner's alerts; null without a verified domain. */
export async function senderOf(
  { config, sql }: Pick<Services, 'config' | 'sql'>,
  { from_address, workspace_id }: Pick<OwnerSettings, 'from_address' | 'workspace_id'>,
): Promise<Sender | null> {
  const domain = from_address === null ? null : from_address.slice(from_address.lastIndexOf('@') + 1).replace(/>$/, '');
  const captured = config.DELIVERY.some(({ kind }) => kind === 'capture');
  const sender = await senderDomain(sql, { workspace_id, domain, sandbox: captured });
  return sender && { from: from_address ?? `alerts@${sender.name}`, workspace_id: sender.workspace_id, captured };
}

/** Returns the sender of a workspace's alerts or, for the instance, of its alerts, invitations and password resets. */
export async function senderOfOwner(
  services: Pick<Services, 'config' | 'sql'>,
  workspace_id: string,
): Promise<Sender | null> {
  return senderOf(services, await ownerSettingsOf(services.sql, workspace_id));
}

export function instanceSender(services: Pick<Services, 'config' | 'sql'>): Promise<Sender | null> {
  return senderOfOwner(services, INSTANCE);
}
