import { type ReadMail, readMail } from '@postrider/mail';
import type { Services } from '../context.ts';
import { isId } from '../ids.ts';
import { type CaptureRow, captureById } from './store.ts';

/** One captured mail, as it arrived and as a reader would show it. */
export async function readCapture(
  services: Pick<Services, 'sql'>,
  id: string,
): Promise<{ row: CaptureRow & { raw: Buffer }; parsed: ReadMail } | null> {
  if (!isId('capture', id)) return null;
  const row = await captureById(services.sql, id);
  return row && { row, parsed: await readMail(row.raw) };
}
