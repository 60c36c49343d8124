import { fields } from './use-case.ts';

// The GraphQL fields of each object, aliased to core's names.

const recipient = `${fields('id email kind status captured attempts last_response next_attempt_at', {
  email: 'address',
  attempts: 'attemptCount',
})} bounce { class category code }`;
export const message = `${fields(
  `id status captured from to cc bcc reply_to subject tags metadata created_at scheduled_at sent_at delivered_at priority retain
   message_id request_id`,
  { message_id: 'messageIdHeader' },
)} recipients(first: 10) { nodes { ${recipient} } } last_event: lastEvent { type at } api_key_id: apiKey { id }
  resend_of: resendOf { id }`;

export const record = `${fields('purpose required type host fqdn value ttl status found diagnosis hint key_role')}
  observed { ${fields('resolver authoritative values ttl checked_at')} }`;
export const domain = `${fields(
  'id name status can_send status_reason return_path dkim_ed25519 created_at verified_at last_checked_at next_check_at',
)} dns_records: records { ${record} }`;

export const apiKey = fields(
  'id name prefix last4 scopes mode domains allowed_ips status created_at expires_at last_used_at revoked_at',
  { domains: 'domainNames' },
);

export const suppression = `${fields('id email reason source created_at expires_at', {
  email: 'address',
  reason: 'note',
  source: 'cause',
})} source_event_id: source { id }`;

export const webhook = fields(
  `id url description mode format events status status_reason secret_last4 previous_secret_until created_at last_success_at
   failing_since paused_until`,
  { status_reason: 'disabledReason' },
);

export const delivery = `${fields(
  `id event_id event_type status attempts created_at next_attempt_at last_attempt_at duration_ms finished_at response_status
   response_body error`,
  { attempts: 'attempt' },
)} webhook_id: webhook { id } waiting { ${fields('reason until hold_id')} }`;

export const event = `${fields('id type created_at sequence data', { created_at: 'at' })} email_id: message { id }
  recipient_id: recipient { id }`;

const actor = 'kind id name';
export const auditEntry = `${fields('id sequence at via action target_id diff reason address request_id', {
  address: 'ip',
})} actor { ${actor} }`;

export const hold = `${fields(
  `id scope value workspace_id reason status created_at expires_at ended_at ended_by resume_rate_per_minute affected`,
  { resume_rate_per_minute: 'resumeRatePerMin' },
)} created_by: createdBy { ${actor} }`;

export const transport = fields(
  'id workspace_id name kind host port tls username envelope_from signing headers max_connections messages_per_minute messages_per_day created_at updated_at',
);
export const transportRule = fields('workspace_id from_domain tag priority destination transports');
export const transportHealth = fields(
  'transport_id status closed_destinations closed_until waiting last_reply delivered_today used_today',
);

export const feedback = fields('transport_id provider url previous_until confirmed_at rejected_at rejection');

export const alarm = fields(
  'id workspace_id rule title subject status detail page started_at ended_at acknowledged_at acknowledged_by notice_dropped_at',
);
export const alarmSettings = fields(
  'access emails webhook_url webhook_format webhook_secret_last4 from quiet_from quiet_until',
);
export const alarmRule = fields('rule title condition access active runbook');
export const checkup = 'status checked_at: checkedAt checks { name status detail fix }';
export const alarmOutcome = fields('kind destination accepted detail');

export const bulk = `${fields(
  `id workspace_id action filter status matched matched_exact done failed skipped truncated reason rate_per_second
   cutoff_at created_at started_at finished_at`,
)} created_by: createdBy { ${actor} }`;

export const preview = `${fields(
  'action token expires_at cutoff_at matched matched_exact sample warning',
)} skipped { reason count exact }`;

export const plan = fields(
  `name monthly_emails recipients_per_request send_per_minute logs_per_minute default_per_minute workspace_rate api_key_limit
   domain_limit webhook_limit member_limit transport_limit capture_bytes_limit`,
  { recipients_per_request: 'maxRecipientsPerRequest', default_per_minute: 'otherPerMinute' },
);
export const workspace = `${fields('id name unknown_policy created_at')} plan { ${plan} }`;

export const member = fields('id workspace_id email role operator created_at', { id: 'userId' });
export const operator = fields('id email created_at', { id: 'userId' });
export const entry = 'entry { password login_url: loginUrl login_url_expires_at: loginUrlExpiresAt }';

const planUse = `api_keys: apiKeys { used limit } domains { used limit } webhooks { used limit } members { used limit }
  workspace_rate: workspaceRate { used limit } capture_bytes: captureBytes { used limit }`;
export const monthUsage = `${fields('month used limit remaining', { used: 'sent' })} by_day: byDay { at value }`;
export const usage = `${monthUsage} plan_use: planUse { ${planUse} }`;

const backlogRow = `${fields('key total counts oldest_seconds last_reply last_success_at closed_until closed_reason')}
  hold { ${fields('id reason expires_at')} }`;
export const backlog = `${fields('dimension bucket_upper_minutes measured_at')} rows { ${backlogRow} }
  total { ${backlogRow} }`;

export const failureGroup = `${fields(
  'id signature kind code enhanced_code sample count destinations first_seen_at last_seen_at',
  { code: 'smtpCode' },
)} trend { at value }`;

export const job = `${fields(
  `id state data output retry_count retry_limit priority start_after created_at started_at completed_at heartbeat_at
   parked_in`,
)} queue { name }`;

const standing = 'ready deferred active dead parked oldest_ready_seconds';
export const queue = `${fields(
  `name purpose ${standing} in_per_minute out_per_minute fail_per_minute drain_seconds concurrency measured_at`,
  { in_per_minute: 'inPerMin', out_per_minute: 'outPerMin', fail_per_minute: 'failPerMin' },
)} wait { p seconds } run { p seconds } workers { id name }`;
export const queuePoint = fields(`at ${standing} finished failed wait_p95_seconds`, { wait_p95_seconds: 'waitP95' });

export const worker = fields(
  `id name host version live started_at last_heartbeat_at stopped_at active concurrency rss_bytes cpu
   loop_delay_p99_ms pool_waiting crash_restarts`,
);
export const schedule = fields('name cron timezone in_words next_runs missed_policy', { in_words: 'human' });

export const statSeries = `${fields('metric key complete_until')} points { at value }`;

export const erasure = `id status created_at: createdAt finished_at: finishedAt remains
  counts { recipients canceled messages bodies bodies_kept: bodiesKept attempts transcripts events
    webhook_deliveries: webhookDeliveries captures requests idempotency_keys: idempotencyKeys suppressions
    other_rows: otherRows }`;
