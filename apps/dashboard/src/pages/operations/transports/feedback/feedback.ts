import type { Inputs, Outputs } from '../../../../api/trpc.ts';

export type Feedback = NonNullable<Outputs['transports']['feedback']>;
export type FeedbackEvent = Feedback['events'][number];
export type NewFeedback = Outputs['transports']['setFeedback'];
export type Provider = Inputs['transports']['setFeedback']['provider'];

/** Whether the relay's requests arrive: by the last one, as far as there was one. */
export type Reception = 'none' | 'rejected' | 'received';

export function receptionOf({ confirmed_at, rejected_at }: Feedback): Reception {
  if (rejected_at !== null && (confirmed_at === null || rejected_at > confirmed_at)) return 'rejected';
  return confirmed_at === null ? 'none' : 'received';
}
