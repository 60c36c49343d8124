-- A column with a default: the release before runs on it.

-- The payload, event names and headers of what an endpoint is posted.
alter table webhooks add column format text not null default 'postrider' check (format in ('postrider', 'resend'));
