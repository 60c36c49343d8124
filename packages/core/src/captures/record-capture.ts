import { readMail } from '@postrider/mail';
import { idPrefixes, isId, newId } from '../fields/ids.ts';
import type { Services } from '../operation/context.ts';
import { insertCapture } from './store.ts';

export interface ReceivedMail {
  readonly envelope_from: string;
  readonly envelope_to: readonly string[];
  readonly raw: Buffer;
}

const MAX_HEADER_BYTES = 64 * 1024;
const OWN_MESSAGE_ID = new RegExp(`^(${idPrefixes.message}[0-9a-z]{26})@`);

/** Stores a message received by the SMTP capture; resolves after the commit. */
export async function recordCapture(
  services: Pick<Services, 'sql' | 'clock'>,
  mail: ReceivedMail,
  workspace_id: string | null = null,
): Promise<void> {
  // The list needs only the header, which is short enough to parse here.
  const header = mail.raw.subarray(0, MAX_HEADER_BYTES);
  const end = header.indexOf('\r\n\r\n');
  const parsed = await readMail(end < 0 ? header : header.subarray(0, end + 4));
  const own = OWN_MESSAGE_ID.exec(parsed.message_id ?? '')?.[1];
  await insertCapture(services.sql, {
    id: newId('capture', services.clock.now()),
    envelope_from: mail.envelope_from,
    envelope_to: mail.envelope_to,
    subject: parsed.subject.replaceAll('\0', ''),
    message_id: own !== undefined && isId('message', own) ? own : null,
    raw: mail.raw,
    workspace_id,
  });
}
