import { findThings, summarizeAddress } from '@postrider/core/find';
import { onboardingState, overviewSummary } from '@postrider/core/overview';
import { query, router } from './kit/invoke-procedure.ts';

export const overview = router({ summary: query(overviewSummary) });
export const onboarding = router({ state: query(onboardingState) });
export const find = query(findThings);
export const addresses = router({ summary: query(summarizeAddress) });
