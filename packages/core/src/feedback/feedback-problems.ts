import type { Services } from '../operation/context.ts';
import { type FeedbackProblem, feedbackProblemsOf } from './problem-store.ts';
import type { FeedbackProvider } from './provider.ts';
import { feedbackProviders } from './providers.ts';

// A relay retries rejected requests, so one stray request between valid ones is no problem.
const QUIET_SECONDS = 3600;
/** As many transports as the instance may have. */
const MAX_PROBLEMS = 100;

/**
 * Returns the relays in use by a workspace's own rules or, for null, by those of the instance, whose bounces are not
 * seen. The caller decides who may see their names.
 */
export async function feedbackProblems(
  { sql, config }: Pick<Services, 'sql' | 'config'>,
  workspace_id: string | null,
): Promise<FeedbackProblem[]> {
  // The test inbox takes everything, whatever the rules say.
  if (config.DELIVERY.some(({ kind }) => kind === 'capture')) return [];
  const problems = await feedbackProblemsOf(sql, workspace_id, QUIET_SECONDS, MAX_PROBLEMS);
  const has_returns = config.RETURN_PATH_DOMAIN !== undefined;
  return problems.filter((problem) => problem.kind === 'rejected' || !(has_returns && returnsBounces(problem)));
}

/** Returns whether a relay sends bounces to the envelope sender, where we receive them. */
function returnsBounces({ host, envelope_from }: FeedbackProblem): boolean {
  const providers: readonly FeedbackProvider[] = Object.values(feedbackProviders);
  return envelope_from === 'ours' && !providers.some((provider) => provider.host?.test(host));
}
