import { builder } from './builder.ts';

/** `since` is inclusive and `until` is exclusive. Without `until`, the range ends now. */
export const TimeRange = builder.inputType('TimeRange', {
  description: 'since is inclusive and until is exclusive.',
  fields: (t) => ({
    since: t.field({ type: 'DateTime', required: true, description: 'At or after this time.' }),
    until: t.field({ type: 'DateTime', description: 'Before this time. Default: now.' }),
  }),
});
