import type { Tx } from '@postrider/db';
import type { Services } from '../../operation/context.ts';
import { insertNotice, type NoticeKind, type Origin } from './notice-store.ts';

/** Notifies the owner of an account of a security event, by email and on the account page, once this commits. */
export async function noteAccount(
  { jobs }: Pick<Services, 'jobs'>,
  tx: Tx,
  user_id: string,
  kind: NoticeKind,
  origin: Origin,
): Promise<void> {
  const notice_id = await insertNotice(tx, user_id, kind, origin);
  if (notice_id !== null) await jobs.send(tx, 'account.notify', [{ data: { notice_id } }]);
}
