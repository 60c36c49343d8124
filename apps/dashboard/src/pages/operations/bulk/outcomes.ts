export const outcomes = ['done', 'failed', 'skipped'] as const;
