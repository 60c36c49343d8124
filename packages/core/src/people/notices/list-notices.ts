import { z } from 'zod';
import { isoTime } from '../../fields/clock.ts';
import { objectName, timeField } from '../../fields/wire.ts';
import { operation } from '../../operation/operation.ts';
import { requirePerson } from '../person.ts';
import { deviceOf } from './device-of.ts';
import { noticeKinds, noticesOf } from './notice-store.ts';

const MAX_NOTICES = 20;

export const listNotices = operation({
  name: 'people.notices',
  scope: null,
  without_factor: true,
  summary: 'What has recently happened to your account',
  input: z.object({}),
  output: z
    .array(
      z.object({
        object: objectName('account_notice'),
        kind: z.enum(noticeKinds),
        device: z.string().nullable().meta({ description: 'The browser and its system; null if unknown.' }),
        address: z.string().nullable().meta({ description: 'The IP address.' }),
        created_at: timeField,
      }),
    )
    .readonly(),
  async run(ctx) {
    const rows = await noticesOf(ctx.sql, requirePerson(ctx).user_id, MAX_NOTICES);
    return rows.map(({ kind, user_agent, address, created_at }) => ({
      object: 'account_notice' as const,
      kind,
      device: user_agent && deviceOf(user_agent),
      address,
      created_at: isoTime(created_at),
    }));
  },
});
