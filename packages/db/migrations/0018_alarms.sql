-- The release before can run on it: it knows none of these tables, and leaves them empty.

-- The heartbeat of each process, whatever its roles. Unlogged: after a crash of the database the next one fills it.
create unlogged table processes (
  id uuid primary key,
  roles text[] not null,
  host text not null,
  noted_at timestamptz not null,
  -- How far the clock of the process is ahead of that of the database.
  clock_skew_seconds double precision not null,
  -- Transactions that waited for a connection.
  pool_waiting integer not null
) with (fillfactor = 50);

-- Which process reads the numbers of the instance, and until when others leave that to it. Unlogged, as above.
create unlogged table instance_watch (
  only_row boolean primary key default true check (only_row),
  holder uuid not null,
  until timestamptz not null
) with (fillfactor = 50);

-- Where notices of alarms go; an empty workspace means those of the instance.
create table alarm_settings (
  workspace_id uuid primary key,
  emails text[] not null default '{}',
  webhook_url text,
  -- The sender of notices; null for an address of the first verified domain.
  from_address text,
  -- Minutes of a day, UTC, between which no notice goes out; null where there are none.
  quiet_from integer check (quiet_from between 0 and 1439),
  quiet_until integer check (quiet_until between 0 and 1439),
  check ((quiet_from is null) = (quiet_until is null))
);

-- A condition that was seen is pending until it has lasted; then it is an active alarm, which ends once the condition
-- has been gone for a while.
create table alarms (
  id uuid primary key,
  workspace_id uuid not null,
  rule text collate "C" not null,
  -- What it is about, such as a queue; empty where the rule says it.
  subject text collate "C" not null,
  status text not null check (status in ('pending', 'active', 'ended')),
  detail text not null,
  value double precision not null,
  page text not null,
  seen_since timestamptz not null,
  -- Since when the condition is gone.
  clear_since timestamptz,
  started_at timestamptz,
  ended_at timestamptz,
  acknowledged_at timestamptz,
  acknowledged_by text,
  -- Notices that have not gone out yet, and when the last one became due.
  mail_due text check (mail_due in ('start', 'reminder', 'end')),
  webhook_due text check (webhook_due in ('start', 'reminder', 'end')),
  told_at timestamptz
);
-- Finds the open alarm of a condition, and serves the turn of the judge.
create unique index alarms_open on alarms (workspace_id, rule, subject) where status <> 'ended';
-- Serves the list, newest first.
create index alarms_newest on alarms (workspace_id, id) where status <> 'pending';
create index alarms_due on alarms (id) where mail_due is not null or webhook_due is not null;

-- When the last mail about alarms was sent, so that a storm becomes one.
create table alarm_mails (
  workspace_id uuid primary key,
  sent_at timestamptz not null
);
