import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { objectName } from '../fields/wire.ts';
import { accessField, accessibleSide, INSTANCE } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import type { Notice } from './notice-body.ts';
import { type OwnerSettings, ownerSettingsOf } from './notice-store.ts';
import { TEST } from './rules.ts';
import { createNoticeSender, emailsOf, hasDestination, type NoticeOutcome, type NoticeSender } from './send-notices.ts';
import { secondsToNextTest, takeTest } from './settings-store.ts';

const MAX_TESTS = 5;

const testSchema = z
  .object({
    object: objectName('alarm_test'),
    results: z
      .array(
        z.object({
          kind: z.enum(['email', 'webhook']),
          destination: z.string().meta({ description: 'An email address or the host of a webhook.' }),
          accepted: z.boolean(),
          detail: z.string().meta({ examples: ['Webhook returned 200 in 34 ms'] }),
        }),
      )
      .readonly(),
  })
  .meta({ id: 'AlarmTest' });
export type AlarmTestEntry = z.output<typeof testSchema>;

/** Sends a test notice to every saved destination, even in quiet hours, and returns what each of them did. */
export const sendTestAlarm = operation({
  name: 'alarms.test',
  scope: null,
  summary: 'Send a test alert to every destination; at most 5 per hour',
  input: z.object({ access: accessField }),
  output: testSchema,
  async run(ctx, { access }): Promise<AlarmTestEntry> {
    const owner = accessibleSide(ctx, access);
    const settings = await ownerSettingsOf(ctx.sql, owner);
    if (!hasDestination(ctx, settings)) return { object: 'alarm_test', results: [] };
    const sent_at = await countTest(ctx, owner);
    const notice: Notice = {
      workspace_id: owner,
      id: null,
      kind: 'test',
      rule: TEST,
      subject: '',
      detail: 'This is a test. No alert is active because of it.',
      page: owner === INSTANCE ? '/instance/status' : '/settings/alerts',
      started_at: sent_at,
      ended_at: null,
      told_at: sent_at,
    };
    const sender = createNoticeSender(ctx);
    try {
      const [emails, webhooks] = await Promise.all([
        emailTest(ctx, sender, settings, notice),
        sender.post(settings, [notice]),
      ]);
      return { object: 'alarm_test', results: [...emails, ...webhooks] };
    } finally {
      await sender.stop();
    }
  },
});

/** Counts and audits a test in one transaction, which ends before anything is sent. */
async function countTest(ctx: ActorContext, owner: string): Promise<Date> {
  return ctx.sql.begin(async (tx) => {
    const test = await takeTest(tx, owner, MAX_TESTS);
    if (test === null) {
      const seconds = await secondsToNextTest(tx, owner);
      const message = `At most ${MAX_TESTS} test alerts can be sent per hour. Try again in ${Math.ceil(seconds / 60)} min.`;
      throw new AppError('alarm_test_rate', message, { retry_after_seconds: seconds });
    }
    const target_id = owner === INSTANCE ? 'instance' : owner;
    await recordAudit(tx, ctx, [{ action: 'alarm.tested', target_id, workspace_id: owner }]);
    return test.sent_at;
  });
}

/** Returns a rejected email as an outcome, because the webhook may have accepted the notice. */
async function emailTest(
  ctx: ActorContext,
  sender: NoticeSender,
  settings: OwnerSettings,
  notice: Notice,
): Promise<readonly NoticeOutcome[]> {
  try {
    return await sender.email(settings, [notice]);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const detail = `Email not sent: ${error.message}`;
    return emailsOf(ctx, settings).map((destination) => ({ kind: 'email', destination, accepted: false, detail }));
  }
}
