import {
  type Backlog as BacklogEntry,
  backlogDimensions,
  getBacklog,
  type BacklogRow as Row,
} from '@postrider/core/backlog';
import { closedReasons } from '@postrider/core/lanes';
import { builder } from '../kit/builder.ts';
import { enumOf } from '../kit/enums.ts';
import { call } from '../kit/from-operation.ts';
import { Hold } from '../kit/refs.ts';
import { reachArg } from './stats.ts';

const BacklogDimension = enumOf('BacklogDimension', backlogDimensions, 'The property that the backlog is grouped by.');
const ClosedReason = enumOf(
  'ClosedReason',
  closedReasons,
  'Closed because of failures, or because the limit of the destination or of the transport is used up.',
);

const BacklogRow = builder.objectRef<Row>('BacklogRow').implement({
  description: 'The waiting recipients of one group, or in total.',
  fields: (t) => ({
    key: t.exposeString('key', {
      description:
        'A value of the dimension; empty for the total. For TRANSPORT, that of the lane in which the email waits, or else of its last attempt. Email without a value counts in the total only.',
    }),
    total: t.exposeInt('total', { description: 'Number of waiting recipients.' }),
    counts: t.intList({
      description: 'By age. bucketUpperMinutes has the upper bounds.',
      resolve: ({ counts }) => [...counts],
    }),
    oldestSeconds: t.float({
      nullable: true,
      description: 'How long the oldest has been waiting, in seconds; null: none is waiting.',
      resolve: ({ oldest_seconds }) => oldest_seconds,
    }),
    lastReply: t.string({
      nullable: true,
      description: 'For the most recently attempted email.',
      resolve: ({ last_reply }) => last_reply,
    }),
    lastSuccessAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When an email in the group was last delivered; null: unknown.',
      resolve: ({ last_success_at }) => last_success_at,
    }),
    closedUntil: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Set while the destination is closed.',
      resolve: ({ closed_until }) => closed_until,
    }),
    closedReason: t.field({
      type: ClosedReason,
      nullable: true,
      description: 'Why the destination is closed; null while it is open.',
      resolve: ({ closed_reason }) => closed_reason,
    }),
    hold: t.field({
      type: Hold,
      nullable: true,
      description: 'The hold on the destination, sending domain or key.',
      resolve: ({ hold }, _, { load }) => hold && load.holds.load(hold.id),
    }),
  }),
});

const Backlog = builder.objectRef<BacklogEntry>('Backlog').implement({
  description: 'Waiting recipients, grouped and by age.',
  fields: (t) => ({
    dimension: t.field({
      type: BacklogDimension,
      description: 'The property that rows are grouped by.',
      resolve: ({ dimension }) => dimension,
    }),
    bucketUpperMinutes: t.field({
      type: t.listRef('Int', { nullable: true }),
      description: 'Ages in minutes; null for the last bucket, which is unbounded.',
      resolve: ({ bucket_upper_minutes }) => [...bucket_upper_minutes],
    }),
    rows: t.field({
      type: [BacklogRow],
      description: 'The groups with the most waiting recipients.',
      resolve: ({ rows }) => rows,
    }),
    total: t.field({
      type: BacklogRow,
      description: 'All waiting recipients, including those of groups without a row.',
      resolve: ({ total }) => total,
    }),
    measuredAt: t.field({
      type: 'DateTime',
      description: 'When they were counted.',
      resolve: ({ measured_at }) => measured_at,
    }),
  }),
});

builder.queryField('backlog', (t) =>
  t.field({
    type: Backlog,
    description: 'Waiting recipients by age, excluding those scheduled for later.',
    args: {
      by: t.arg({ type: BacklogDimension, defaultValue: 'destination', description: 'The property to group by.' }),
      top: t.arg.int({ defaultValue: 20, description: 'Number of rows, from 1 to 100.' }),
      reach: reachArg(t),
    },
    resolve: (_, args, g) => call(g, getBacklog, args),
  }),
);
