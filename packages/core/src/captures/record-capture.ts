import { readMail } from '@postrider/mail';
import type { Services } from '../context.ts';
import { idPrefixes, newId } from '../ids.ts';
import { insertCapture } from './store.ts';

export interface ReceivedMail {
  readonly envelope_from: string;
  readonly envelope_to: readonly string[];
  readonly raw: Buffer;
}

const OWN_MESSAGE_ID = new RegExp(`^(${idPrefixes.message}[0-9a-z]{26})@`);

/** Stores what the built-in SMTP capture received; resolves once it is committed. */
export async function recordCapture(services: Pick<Services, 'sql' | 'clock'>, mail: ReceivedMail): Promise<void> {
  const parsed = await readMail(mail.raw);
  await insertCapture(services.sql, {
    id: newId('capture', services.clock.now()),
    envelope_from: mail.envelope_from,
    envelope_to: mail.envelope_to,
    subject: parsed.subject.replaceAll('\0', ''),
    message_id: OWN_MESSAGE_ID.exec(parsed.message_id ?? '')?.[1] ?? null,
    raw: mail.raw,
  });
}
