import type { Actor } from '../context.ts';

export const messageActions = ['retry', 'cancel', 'send_now', 'delete', 'export'] as const;
export type MessageAction = (typeof messageActions)[number];

/** What can be done to many at once: to messages, to deliveries of an endpoint, to dead jobs. */
export const bulkActions = [...messageActions, 'replay', 'redrive'] as const;
export type BulkAction = (typeof bulkActions)[number];

/** Who asked for what to be done to which, as a preview has frozen it. */
export interface Errand {
  /** INSTANCE for what belongs to no workspace. */
  readonly workspace_id: string;
  readonly action: BulkAction;
  /** As it was asked for; its plan parses it. */
  readonly filter: unknown;
  /** Nothing that came at this time or later is touched. */
  readonly cutoff_at: Date;
  readonly actor: Actor;
}
