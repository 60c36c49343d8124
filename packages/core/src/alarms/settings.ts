import { z } from 'zod';
import { changesOf, recordAudit } from '../audit/index.ts';
import { sendableProblem } from '../domains/index.ts';
import { personEmail } from '../fields/email.ts';
import { objectName } from '../fields/wire.ts';
import { accessField, accessibleSide, accessScopes, INSTANCE } from '../operation/access.ts';
import type { Context } from '../operation/context.ts';
import { requireFreshSignIn } from '../operation/fresh-sign-in.ts';
import { operation } from '../operation/operation.ts';
import { issueFor } from '../operation/parse-input.ts';
import { requirePublic, urlFieldNamed } from '../webhooks/index.ts';
import {
  type AlarmSettings,
  dropSecret,
  formOf,
  lockSettings,
  readSettings,
  webhookForms,
  writeSettings,
} from './settings-store.ts';
import { domainFacts } from './store.ts';
import { createSecret } from './webhook-secret.ts';

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
    object: objectName('alarm_settings'),
    access: z.enum(accessScopes),
    emails: z.array(z.string()).readonly(),
    webhook_url: z.string().nullable(),
    webhook_format: z
      .enum(webhookForms)
      .meta({ description: 'json is signed; slack is what Slack, Mattermost and Discord read.' }),
    webhook_secret_last4: z
      .string()
      .nullable()
      .meta({ description: 'The end of the secret that signs; null: requests are unsigned.' }),
    from: z
      .string()
      .nullable()
      .meta({ description: 'The sender address; null: alerts@ at the first verified domain.' }),
    quiet_from: z.string().nullable(),
    quiet_until: z.string().nullable(),
  })
  .meta({ id: 'AlarmSettings' });
export type AlarmSettingsEntry = z.output<typeof settingsSchema>;

export const savedSettingsSchema = settingsSchema.extend({
  webhook_secret: z
    .string()
    .nullable()
    .meta({ description: 'The new webhook secret, shown only once; null if none was created.' }),
});
export type SavedAlarmSettings = z.output<typeof savedSettingsSchema>;

const minutesOf = (time: string | null) =>
  time === null ? null : Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
const timeOf = (minutes: number | null) =>
  minutes === null
    ? null
    : `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;

export function settingsEntry(workspace_id: string, settings: AlarmSettings): AlarmSettingsEntry {
  return {
    object: 'alarm_settings',
    access: workspace_id === INSTANCE ? 'instance' : 'workspace',
    emails: settings.emails,
    webhook_url: settings.webhook_url,
    webhook_format: settings.webhook_format,
    webhook_secret_last4: settings.webhook_secret_last4,
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

const settingsInput = z
  .object({
    access: accessField,
    emails: z.array(emailField).max(MAX_EMAILS).optional(),
    webhook_url: urlFieldNamed('webhook_url').nullable().optional(),
    webhook_format: z.enum(webhookForms).optional().meta({
      description:
        'Default with a new webhook_url: slack for Slack and for Discord URLs that end in /slack, otherwise json.',
    }),
    from: emailField.nullable().optional(),
    quiet_from: minuteField.nullable().optional(),
    quiet_until: minuteField.nullable().optional(),
  })
  .refine((input) => ((input.quiet_from ?? null) === null) === ((input.quiet_until ?? null) === null), {
    path: ['quiet_until'],
    error: 'quiet_from and quiet_until must be set together.',
  });

/**
 * Replaces the given fields. Notices wait between quiet_from and quiet_until, both in UTC. A new webhook gets a secret,
 * except in Slack's format, which cannot be signed.
 */
export const setAlarmSettings = operation({
  name: 'alarms.set_settings',
  scope: null,
  summary: 'Update alert settings',
  input: settingsInput,
  output: savedSettingsSchema,
  async run(ctx, { access, ...input }): Promise<SavedAlarmSettings> {
    const owner = accessibleSide(ctx, access);
    if (input.webhook_url) {
      await requireFreshSignIn(ctx);
      await requirePublic(ctx.config, input.webhook_url, 'webhook_url');
    }
    if (input.from) await requireSendable(ctx, owner, input.from);
    return ctx.sql.begin(async (tx) => {
      await lockSettings(tx, owner);
      const before = await readSettings(tx, owner);
      const changed = changedSettings(before, input);
      const { webhook_url, webhook_format } = changed;
      await writeSettings(tx, owner, changed);
      if (webhook_url === null) await dropSecret(tx, owner);
      const is_new = webhook_url !== before.webhook_url || webhook_format !== before.webhook_format;
      const needs_secret = webhook_url !== null && webhook_format === 'json' && before.webhook_secret_last4 === null;
      const secret = is_new && needs_secret ? await createSecret(ctx, tx, owner) : null;
      const after = await readSettings(tx, owner);
      const diff = changesOf(hidden(before), hidden(after), auditedFields);
      if (diff) {
        const target_id = owner === INSTANCE ? 'instance' : owner;
        await recordAudit(tx, ctx, [{ action: 'alarm.settings_changed', target_id, diff, workspace_id: owner }]);
      }
      return { ...settingsEntry(owner, after), webhook_secret: secret };
    });
  },
});

type SettingsChange = Omit<z.output<typeof settingsInput>, 'access'>;

function changedSettings(before: AlarmSettings, input: SettingsChange): AlarmSettings {
  const webhook_url = input.webhook_url === undefined ? before.webhook_url : input.webhook_url;
  const is_moved = webhook_url !== null && webhook_url !== before.webhook_url;
  return {
    ...before,
    emails: input.emails ?? before.emails,
    webhook_url,
    webhook_format: input.webhook_format ?? (is_moved ? formOf(webhook_url) : before.webhook_format),
    from_address: input.from === undefined ? before.from_address : input.from,
    quiet_from: input.quiet_from === undefined ? before.quiet_from : minutesOf(input.quiet_from),
    quiet_until: input.quiet_until === undefined ? before.quiet_until : minutesOf(input.quiet_until),
  };
}

const auditedFields = [
  'emails',
  'webhook_url',
  'webhook_format',
  'webhook_secret_last4',
  'from_address',
  'quiet_from',
  'quiet_until',
] as const;

const hidden = (settings: AlarmSettings): AlarmSettings => ({
  ...settings,
  // The path of the URL may be the receiver's only secret.
  webhook_url: settings.webhook_url === null ? null : new URL(settings.webhook_url).host,
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
