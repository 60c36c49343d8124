import { type ReadMail, readMail } from '@postrider/mail';
import { recordAudit } from '../audit/index.ts';
import { isId } from '../fields/ids.ts';
import { INSTANCE } from '../operation/access.ts';
import type { ActorContext, Services } from '../operation/context.ts';
import { type CaptureRow, captureById } from './store.ts';

interface ReadCapture {
  readonly row: CaptureRow & { raw: Buffer };
  readonly parsed: ReadMail;
}

/** One captured mail, raw and parsed. */
export async function readCapture(services: Pick<Services, 'sql'>, id: string): Promise<ReadCapture | null> {
  if (!isId('capture', id)) return null;
  const row = await captureById(services.sql, id);
  return row && { row, parsed: await readMail(row.raw) };
}

/** For an authenticated operator, with an audit entry: the mail may belong to any workspace. */
export async function readCaptureAs(ctx: ActorContext, id: string): Promise<ReadCapture | null> {
  if (!isId('capture', id)) return null;
  const row = await ctx.sql.begin(async (tx) => {
    const found = await captureById(tx, id);
    if (!found) return null;
    const { workspace_id, message_id } = found;
    await recordAudit(tx, ctx, [
      {
        action: 'message.content_read',
        target_id: message_id ?? id,
        diff: { capture_id: id, workspace_id },
        workspace_id: INSTANCE,
      },
    ]);
    return found;
  });
  return row && { row, parsed: await readMail(row.raw) };
}
