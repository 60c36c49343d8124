import { generic } from './generic.ts';
import type { FeedbackProvider } from './provider.ts';

export const feedbackProviders = { generic } as const satisfies Record<string, FeedbackProvider>;
export type ProviderName = keyof typeof feedbackProviders;
// The cast is safe because the keys of the table are its names.
export const providerNames = Object.keys(feedbackProviders) as [ProviderName, ...ProviderName[]];
