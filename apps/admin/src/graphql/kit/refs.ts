import type { KeyEntry } from '@postrider/core/api-keys';
import type { DomainEntry } from '@postrider/core/domains';
import type { EventEntry, TimelineEvent } from '@postrider/core/events';
import type { HoldEntry } from '@postrider/core/holds';
import type { LogEntry, MessageAttempt, RecipientEntry } from '@postrider/core/messages';
import type { JobView, QueueView, WorkerView } from '@postrider/core/queues';
import type { SuppressionEntry } from '@postrider/core/suppressions';
import type { WebhookDeliveryEntry, WebhookEntry } from '@postrider/core/webhooks';
import { builder } from './builder.ts';

/** A recipient and the message it was read from. */
export interface RecipientOf {
  readonly id: string;
  readonly entry: RecipientEntry;
  readonly email: LogEntry;
}

/** Refs of types that refer to each other. Each is implemented in the file of its domain. */
export const Message = builder.objectRef<LogEntry>('Message');
export const Recipient = builder.objectRef<RecipientOf>('Recipient');
export const Attempt = builder.objectRef<MessageAttempt>('Attempt');
export const Event = builder.objectRef<EventEntry | TimelineEvent>('Event');
export const Domain = builder.objectRef<DomainEntry>('Domain');
export const ApiKey = builder.objectRef<KeyEntry>('ApiKey');
export const Suppression = builder.objectRef<SuppressionEntry>('Suppression');
export const Webhook = builder.objectRef<WebhookEntry>('Webhook');
export const WebhookDelivery = builder.objectRef<WebhookDeliveryEntry>('WebhookDelivery');
export const Hold = builder.objectRef<HoldEntry>('Hold');
export const Queue = builder.objectRef<QueueView>('Queue');
export const Worker = builder.objectRef<WorkerView>('Worker');
export const Job = builder.objectRef<JobView>('Job');
