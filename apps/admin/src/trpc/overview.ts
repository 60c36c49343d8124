import { findThings } from '@postrider/core/find';
import { onboardingState, overviewSummary } from '@postrider/core/overview';
import { query, router } from './kit/invoke-procedure.ts';
import { overviewStream } from './live.ts';

export const overview = router({ summary: query(overviewSummary), stream: overviewStream });
export const onboarding = router({ state: query(onboardingState) });
export const find = query(findThings);
