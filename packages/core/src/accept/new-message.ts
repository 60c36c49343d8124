import type { DeliveryState } from '../delivery/index.ts';
import type { KeyMode } from '../operation/secrets.ts';
import type { Priority } from '../priorities/index.ts';
import type { Addressee } from './addressees.ts';
import type { Retain } from './schema.ts';

export interface NewRecipient extends Addressee {
  readonly id: string;
  readonly state: DeliveryState;
  readonly job_id: string | null;
  /** Id of the email.suppressed event; null if the recipient is not suppressed. */
  readonly event_id: string | null;
}

export interface NewMessage {
  readonly workspace_id: string;
  readonly id: string;
  readonly event_id: string;
  readonly status: DeliveryState;
  readonly mode: KeyMode;
  readonly from_address: string;
  readonly from_email: string;
  readonly from_domain: string;
  readonly to_addresses: readonly string[];
  readonly cc_addresses: readonly string[];
  readonly bcc_addresses: readonly string[];
  readonly reply_to: string | null;
  readonly subject: string;
  readonly tags: readonly string[];
  readonly metadata: string;
  readonly html: string | null;
  readonly text: string | null;
  readonly headers: string;
  readonly attachments: string;
  readonly body_bytes: number;
  readonly priority: Priority;
  readonly retain: Retain;
  /** Whether the content is unreadable in the workspace. */
  readonly sealed: boolean;
  readonly api_key_id: string | null;
  readonly request_id: string;
  readonly resend_of: string | null;
  readonly trace_parent: string | null;
  readonly created_at: Date;
  readonly scheduled_at: Date | null;
  /** Emails counted toward the monthly volume. */
  readonly counted: number;
  /** Null means no limit. */
  readonly monthly_limit: number | null;
  readonly recipients: readonly NewRecipient[];
}
