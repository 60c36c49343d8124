import type { Sender } from '../delivery/index.ts';
import type { Services } from '../operation/context.ts';
import type { TransportRow } from '../transports/index.ts';
import type { FeedbackProvider } from './provider.ts';
import { feedbackProviders, type ProviderName } from './providers.ts';
import { feedbackReference } from './reference.ts';

/** Returns what the email of a transport needs so that its relay's reports can be matched; nothing if it reports none. */
export function feedbackOfSender(
  { secret_key }: Pick<Services, 'secret_key'>,
  { id, feedback }: Pick<TransportRow, 'id' | 'feedback'>,
): Pick<Sender, 'reference' | 'relay_id'> {
  if (feedback === null) return {};
  // The cast is safe because only names of the table are stored.
  const provider: FeedbackProvider = feedbackProviders[feedback as ProviderName];
  return {
    reference: (key) => provider.header(feedbackReference(secret_key, id, key)),
    relay_id: provider.relay_id,
  };
}
