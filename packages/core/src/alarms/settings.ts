import { z } from 'zod';
import { changesOf, recordAudit } from '../audit/index.ts';
import { sendableProblem } from '../domains/index.ts';
import { personEmail } from '../fields/email.ts';
import { accessField, accessibleSide, INSTANCE } from '../operation/access.ts';
import type { Context } from '../operation/context.ts';
import { requireFreshSignIn } from '../operation/fresh-sign-in.ts';
import { operation } from '../operation/operation.ts';
import { issueFor } from '../operation/parse-input.ts';
import { requirePublic, urlFieldNamed } from '../webhooks/index.ts';
import { type AlarmSettings, domainFacts, readSettings, writeSettings } from './store.ts';

const MAX_EMAILS = 20;

const emailField = z
  .string()
  .max(320)
  .transform((text, context) => {
    const email = personEmail(text);
    if (email !== null) return email;
    context.addIssue(
      issueFor('invalid_email', `${text.slice(0, 80)} is not a valid email address, such as ada@example.com.`),
    );
    return z.NEVER;
  });
const minuteField = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a UTC time of day such as 22:30')
  .meta({ examples: ['22:30'] });

const settingsSchema = z
  .object({
    object: z.literal('alarm_settings'),
    access: z.enum(['workspace', 'instance']),
    emails: z.array(z.string()).readonly(),
    webhook_url: z.string().nullable(),
    from: z
      .string()
      .nullable()
      .meta({ description: 'The sender address; null: alarms@ at the first verified domain.' }),
    quiet_from: z.string().nullable(),
    quiet_until: z.string().nullable(),
  })
  .meta({ id: 'AlarmSettings' });
export type AlarmSettingsEntry = z.output<typeof settingsSchema>;

const minutesOf = (time: string | null) =>
  time === null ? null : Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
const timeOf = (minutes: number | null) =>
  minutes === null
    ? null
    : `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;

function settingsEntry(workspace_id: string, settings: AlarmSettings): AlarmSettingsEntry {
  return {
    object: 'alarm_settings',
    access: workspace_id === INSTANCE ? 'instance' : 'workspace',
    emails: settings.emails,
    webhook_url: settings.webhook_url,
    from: settings.from_address,
    quiet_from: timeOf(settings.quiet_from),
    quiet_until: timeOf(settings.quiet_until),
  };
}

export const getAlarmSettings = operation({
  name: 'alarms.settings',
  scope: null,
  summary: 'Alert settings',
  input: z.object({ access: accessField }),
  output: settingsSchema,
  async run(ctx, { access }): Promise<AlarmSettingsEntry> {
    const owner = accessibleSide(ctx, access);
    return settingsEntry(owner, await readSettings(ctx.sql, owner));
  },
});

/** Replaces the given fields. Notices wait between quiet_from and quiet_until, both in UTC. */
export const setAlarmSettings = operation({
  name: 'alarms.set_settings',
  scope: null,
  summary: 'Update alert settings',
  input: z
    .object({
      access: accessField,
      emails: z.array(emailField).max(MAX_EMAILS).optional(),
      webhook_url: urlFieldNamed('webhook_url').nullable().optional(),
      from: emailField.nullable().optional(),
      quiet_from: minuteField.nullable().optional(),
      quiet_until: minuteField.nullable().optional(),
    })
    .refine((input) => ((input.quiet_from ?? null) === null) === ((input.quiet_until ?? null) === null), {
      path: ['quiet_until'],
      error: 'quiet_from and quiet_until must be set together.',
    }),
  output: settingsSchema,
  async run(ctx, { access, ...input }): Promise<AlarmSettingsEntry> {
    const owner = accessibleSide(ctx, access);
    if (input.webhook_url) {
      await requireFreshSignIn(ctx);
      await requirePublic(ctx.config, input.webhook_url, 'webhook_url');
    }
    if (input.from) await requireSendable(ctx, owner, input.from);
    return ctx.sql.begin(async (tx) => {
      const before = await readSettings(tx, owner);
      const after: AlarmSettings = {
        emails: input.emails ?? before.emails,
        webhook_url: input.webhook_url === undefined ? before.webhook_url : input.webhook_url,
        from_address: input.from === undefined ? before.from_address : input.from,
        quiet_from: input.quiet_from === undefined ? before.quiet_from : minutesOf(input.quiet_from),
        quiet_until: input.quiet_until === undefined ? before.quiet_until : minutesOf(input.quiet_until),
      };
      await writeSettings(tx, owner, after);
      const hidden = (settings: AlarmSettings) => ({
        ...settings,
        // The path of the URL may be the receiver's only secret.
        webhook_url: settings.webhook_url === null ? null : new URL(settings.webhook_url).host,
      });
      const diff = changesOf(hidden(before), hidden(after), [
        'emails',
        'webhook_url',
        'from_address',
        'quiet_from',
        'quiet_until',
      ]);
      if (diff) {
        const target_id = owner === INSTANCE ? 'instance' : owner;
        await recordAudit(tx, ctx, [{ action: 'alarm.settings_changed', target_id, diff, workspace_id: owner }]);
      }
      return settingsEntry(owner, after);
    });
  },
});

/**
 * Throws unless notices can be sent from the domain. Notices are live email; those of the instance may come from a
 * domain of any workspace.
 */
async function requireSendable(ctx: Pick<Context, 'sql' | 'config'>, owner: string, from: string): Promise<void> {
  const name = from.slice(from.lastIndexOf('@') + 1);
  const problem = sendableProblem(name, await domainFacts(ctx.sql, owner, name), 'live', ctx.config);
  if (problem) throw problem;
}
