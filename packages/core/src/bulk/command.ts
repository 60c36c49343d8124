import type { Actor } from '../operation/context.ts';

export const messageActions = ['retry', 'cancel', 'give_up', 'send_now', 'delete', 'export'] as const;
export type MessageAction = (typeof messageActions)[number];

/** Bulk actions on messages, on webhook deliveries of an endpoint, and on dead jobs. */
export const bulkActions = [...messageActions, 'replay', 'redrive'] as const;
export type BulkAction = (typeof bulkActions)[number];

/** A bulk command as frozen by a preview. */
export interface BulkCommand {
  /** INSTANCE for commands outside any workspace. */
  readonly workspace_id: string;
  readonly action: BulkAction;
  /** As requested; the plan parses it. */
  readonly filter: unknown;
  /** Items created at or after this time are unaffected. */
  readonly cutoff_at: Date;
  readonly actor: Actor;
}
