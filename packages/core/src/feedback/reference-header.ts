import type { Services } from '../operation/context.ts';
import type { RecipientKey } from '../states/index.ts';
import type { TransportRow } from '../transports/index.ts';
import { feedbackProviders, type ProviderName } from './providers.ts';
import { feedbackReference } from './reference.ts';

/** Returns what writes the header by which a relay learns our reference; undefined if it does not report. */
export function referenceHeader(
  { secret_key }: Pick<Services, 'secret_key'>,
  { id, feedback }: Pick<TransportRow, 'id' | 'feedback'>,
): ((key: RecipientKey) => string) | undefined {
  if (feedback === null) return undefined;
  // The cast is safe because only names of the table are stored.
  const provider = feedbackProviders[feedback as ProviderName];
  return (key) => provider.header(feedbackReference(secret_key, id, key));
}
