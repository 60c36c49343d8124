import type { Sql, Tx } from '@postrider/db';

export const webhookForms = ['json', 'slack'] as const;
export type WebhookForm = (typeof webhookForms)[number];

/** Returns the form that the receiver at a URL needs: Slack and Discord's imitation of it accept no other. */
export function formOf(url: string): WebhookForm {
  const { hostname, pathname } = new URL(url);
  const is_discord = /(?:^|\.)discord(?:app)?\.com$/.test(hostname);
  return hostname === 'hooks.slack.com' || (is_discord && pathname.endsWith('/slack')) ? 'slack' : 'json';
}

export interface AlarmSettings {
  readonly emails: readonly string[];
  readonly webhook_url: string | null;
  readonly webhook_format: WebhookForm;
  readonly webhook_secret_last4: string | null;
  readonly from_address: string | null;
  readonly quiet_from: number | null;
  readonly quiet_until: number | null;
}

export async function readSettings(sql: Sql | Tx, workspace_id: string): Promise<AlarmSettings> {
  const [row] = await sql<AlarmSettings[]>`
    select emails, webhook_url, webhook_format, webhook_secret_last4, from_address, quiet_from, quiet_until
    from alarm_settings where workspace_id = ${workspace_id}`;
  return (
    row ?? {
      emails: [],
      webhook_url: null,
      webhook_format: 'json',
      webhook_secret_last4: null,
      from_address: null,
      quiet_from: null,
      quiet_until: null,
    }
  );
}

/** Creates the row if it is missing, and locks it, so that changes made at the same time follow each other. */
export async function lockSettings(tx: Tx, workspace_id: string): Promise<void> {
  await tx`
    insert into alarm_settings as s (workspace_id) values (${workspace_id})
    on conflict (workspace_id) do update set emails = s.emails`;
}

/** Replaces everything except the secret. */
export async function writeSettings(
  tx: Tx,
  workspace_id: string,
  settings: Omit<AlarmSettings, 'webhook_secret_last4'>,
): Promise<void> {
  const { emails, webhook_url, webhook_format, from_address, quiet_from, quiet_until } = settings;
  await tx`
    update alarm_settings set emails = ${[...emails]}::text[], webhook_url = ${webhook_url},
      webhook_format = ${webhook_format}, from_address = ${from_address}, quiet_from = ${quiet_from},
      quiet_until = ${quiet_until}
    where workspace_id = ${workspace_id}`;
}

/** Replaces the webhook secret; the previous one, if there is one, also signs for a while. */
export async function writeSecret(
  tx: Tx,
  workspace_id: string,
  next: { readonly secret: Buffer; readonly last4: string; readonly overlap_seconds: number },
): Promise<void> {
  await tx`
    update alarm_settings set webhook_previous_secret = webhook_secret,
      webhook_previous_until = case when webhook_secret is not null
        then clock_now() + make_interval(secs => ${next.overlap_seconds}) end,
      webhook_secret = ${next.secret}, webhook_secret_last4 = ${next.last4}
    where workspace_id = ${workspace_id}`;
}

export async function dropSecret(tx: Tx, workspace_id: string): Promise<void> {
  await tx`
    update alarm_settings set webhook_secret = null, webhook_secret_last4 = null, webhook_previous_secret = null,
      webhook_previous_until = null
    where workspace_id = ${workspace_id}`;
}

export interface SettingsSecrets {
  readonly workspace_id: string;
  readonly webhook_secret: Buffer | null;
  /** null unless a rotation is in progress. */
  readonly webhook_previous_secret: Buffer | null;
}

/** Returns the secrets of the next owners by ID. */
export async function readSecretPage(sql: Sql, after: string | null, max: number): Promise<SettingsSecrets[]> {
  return sql<SettingsSecrets[]>`
    select workspace_id, webhook_secret,
      case when webhook_previous_until > clock_now() then webhook_previous_secret end as webhook_previous_secret
    from alarm_settings
    where webhook_secret is not null ${after === null ? sql`` : sql`and workspace_id > ${after}`}
    order by workspace_id limit ${max}`;
}

/** Counts a test alert over all processes; returns null if the owner has had as many as allowed in the last hour. */
export async function takeTest(tx: Tx, workspace_id: string, max: number): Promise<{ readonly sent_at: Date } | null> {
  const [row] = await tx<{ sent_at: Date }[]>`
    insert into alarm_tests as t (workspace_id, sent_at) values (${workspace_id}, array[clock_now()])
    on conflict (workspace_id) do update set sent_at = array(
      select at from unnest(t.sent_at) as at where at > clock_now() - interval '1 hour' order by at
    ) || clock_now()
    where (select count(*) from unnest(t.sent_at) as at where at > clock_now() - interval '1 hour') < ${max}
    returning sent_at[cardinality(sent_at)] as sent_at`;
  return row ?? null;
}

/** Returns the seconds until the oldest test alert of the last hour no longer counts. */
export async function secondsToNextTest(sql: Sql | Tx, workspace_id: string): Promise<number> {
  const [row] = await sql<{ seconds: number }[]>`
    select ceil(extract(epoch from min(at) + interval '1 hour' - clock_now()))::int as seconds
    from alarm_tests t, unnest(t.sent_at) as at
    where t.workspace_id = ${workspace_id} and at > clock_now() - interval '1 hour'
    having count(*) > 0`;
  return Math.max(1, row?.seconds ?? 1);
}
