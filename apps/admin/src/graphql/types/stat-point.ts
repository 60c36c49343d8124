import { builder } from '../kit/builder.ts';

export interface StatPointShape {
  readonly at: string;
  readonly value: number | null;
}

export const StatPoint = builder.objectRef<StatPointShape>('StatPoint').implement({
  fields: (t) => ({
    at: t.field({ type: 'DateTime', resolve: ({ at }) => at }),
    value: t.exposeFloat('value', { nullable: true }),
  }),
});
