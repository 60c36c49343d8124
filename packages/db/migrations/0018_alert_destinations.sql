-- The release before can run on it: it posts every alert as unsigned JSON, and keeps the new columns as they are.

-- The secret is created when a webhook URL is saved. Earlier settings have none, because their receivers could not know
-- it: their alerts stay unsigned until one is created.
alter table alarm_settings
  add column webhook_format text not null default 'json' check (webhook_format in ('json', 'slack')),
  add column webhook_secret bytea,
  add column webhook_secret_last4 text,
  -- Also signs until this time after a rotation.
  add column webhook_previous_secret bytea,
  add column webhook_previous_until timestamptz,
  add check ((webhook_secret is null) = (webhook_secret_last4 is null)),
  add check ((webhook_previous_secret is null) = (webhook_previous_until is null));

-- When test alerts were sent in the last hour; an empty workspace means the instance.
create table alarm_tests (
  workspace_id uuid primary key,
  sent_at timestamptz[] not null
);
