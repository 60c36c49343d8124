import { z } from 'zod';
import { senderFacts } from '../api-keys/index.ts';
import { renderMessage } from '../delivery/index.ts';
import { objectName, timeField } from '../fields/wire.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { draftMessage, loadFacts } from './accept.ts';
import { recipientKinds } from './addressees.ts';
import { judge, judgedReasons } from './judge.ts';
import { contentReasons, sendSchema } from './schema.ts';
import { soleRefusal } from './send-message.ts';

const previewSchema = z.object({
  object: objectName('email_preview'),
  status: z.enum(['queued', 'scheduled']).meta({ description: 'The status that the email would get.' }),
  scheduled_at: timeField.nullable().meta({ description: 'When it would be sent. null: immediately.' }),
  recipients: z
    .array(
      z.object({
        email: z.string().meta({ description: 'The address without a display name.' }),
        kind: z.enum(recipientKinds).meta({ description: 'The first field that contains the address.' }),
        verdict: z
          .enum(['would_send', 'suppressed'])
          .meta({ description: 'suppressed: nothing would be sent to this address.' }),
      }),
    )
    .readonly()
    .meta({ description: 'One entry per unique address.' }),
  mime: z.string().meta({ description: 'The email as it would be sent, before signing.' }),
});
export type Preview = z.output<typeof previewSchema>;

/** Runs every check of a send and renders the message, without storing or counting it. */
export const previewMessage = operation({
  name: 'email.preview',
  scope: 'email:send',
  sandbox: true,
  summary: 'Dry run: run every check and render the email without storing anything',
  reasons: [...contentReasons, ...judgedReasons],
  input: sendSchema,
  output: previewSchema,
  async run(ctx, input): Promise<Preview> {
    const { workspace_id } = ctx.actor;
    const submission = {
      actor: ctx.actor,
      scope: 'email:send' as const,
      request_id: ctx.request_id,
      counted: true,
      trace: null,
      messages: [{ ok: true as const, value: input }],
      refusal: soleRefusal,
      resend: null,
      idempotency: null,
    };
    const [sender, facts] = await Promise.all([
      senderFacts(ctx.sql, ctx.actor),
      loadFacts(ctx.sql, [{ workspace_id, mode: 'live', submission }]),
    ]);
    const decision = judge(input, sender, facts, ctx.config);
    if (decision instanceof AppError) throw decision;
    const draft = draftMessage(ctx, { ...submission, sender }, input, decision, facts.now);
    return {
      object: 'email_preview',
      status: decision.scheduled_at ? 'scheduled' : 'queued',
      scheduled_at: decision.scheduled_at?.toISOString() ?? null,
      recipients: decision.addressees.map(({ email, kind, suppressed }) => ({
        email,
        kind,
        verdict: suppressed ? 'suppressed' : 'would_send',
      })),
      mime: renderMessage({ ...draft, message_id: draft.id }).toString('utf8'),
    };
  },
});
