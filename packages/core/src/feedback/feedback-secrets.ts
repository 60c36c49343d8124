import type { Services } from '../operation/context.ts';
import type { FeedbackRow } from './feedback-store.ts';

export interface FeedbackSecrets {
  /** The end of the address. */
  readonly token: string;
  readonly secret: string;
  /** The secret before, accepted as long as the address before. */
  readonly previous?: string;
}

/** The purpose under which the secrets of a transport's feedback are encrypted. */
export function feedbackPurpose(transport_id: string): string {
  return `feedback ${transport_id}`;
}

export function sealSecrets(
  { encryption }: Pick<Services, 'encryption'>,
  transport_id: string,
  secrets: FeedbackSecrets,
): Buffer {
  return encryption.encrypt(Buffer.from(JSON.stringify(secrets)), feedbackPurpose(transport_id));
}

export function openSecrets(
  { encryption }: Pick<Services, 'encryption'>,
  { transport_id, secrets }: Pick<FeedbackRow, 'transport_id' | 'secrets'>,
): FeedbackSecrets {
  // The cast is safe because sealSecrets wrote it.
  return JSON.parse(encryption.decrypt(secrets, feedbackPurpose(transport_id)).toString()) as FeedbackSecrets;
}
