import { z } from 'zod';
import { followChanges } from '../operation/follow-changes.ts';
import { invoke, operation } from '../operation/operation.ts';
import { onboardingState } from './onboarding-state.ts';
import { type Overview, overviewSummary } from './overview-summary.ts';

const POLL_MS = 5000;

export interface FollowedOverview {
  readonly overview: Overview;
  readonly onboarding: z.output<typeof onboardingState.output>;
}

/** Streams the overview of the last day and the steps of the setup whenever they change; null as a keep-alive. */
export const followOverview = operation({
  name: 'overview.follow',
  scope: 'email:logs:read',
  summary: 'Follow the overview of a workspace',
  input: z.object({}),
  output: z.custom<AsyncGenerator<FollowedOverview | null>>(),
  async run(ctx) {
    const read = async (): Promise<FollowedOverview> => ({
      overview: await invoke(ctx, overviewSummary, {}),
      onboarding: await invoke(ctx, onboardingState, {}),
    });
    return followChanges(read, POLL_MS, ({ overview: { totals, waiting, usage, problems }, onboarding }) =>
      JSON.stringify([totals, waiting.count, usage.used, problems, onboarding]),
    );
  },
});
