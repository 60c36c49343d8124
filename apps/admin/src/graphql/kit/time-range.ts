import { builder } from './builder.ts';

/** `since` is inclusive and `until` is exclusive. Without `until`, the range ends now. */
export const TimeRange = builder.inputType('TimeRange', {
  fields: (t) => ({
    since: t.field({ type: 'DateTime', required: true }),
    until: t.field({ type: 'DateTime', description: 'Before this time. Default: now.' }),
  }),
});
