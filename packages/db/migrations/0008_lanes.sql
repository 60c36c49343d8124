-- The release before can run on it: it knows none of these tables, and leaves them empty.

-- Parked recipients: due, but waiting for their lane outside the queue. A row keeps the id of the job that it was,
-- which the recipient refers to, so that parking updates no recipient.
create table parked_deliveries (
  job_id uuid primary key,
  lane text collate "C" not null,
  workspace_id uuid not null,
  message_id uuid not null,
  recipient_id uuid not null,
  due_at timestamptz not null
);
-- Serves the next slice of a lane: one workspace after another, each in the order of its due times.
create index parked_deliveries_turn on parked_deliveries (lane, workspace_id, due_at, job_id);

-- The state of lanes that were closed or have parked mail, shared by the workers; a lane without a row is open.
create table lanes (
  lane text collate "C" primary key,
  closed_until timestamptz,
  reason text check (reason in ('failing', 'limit')),
  last_reply text,
  -- Consecutive failures, without an accepted mail in between.
  closings integer not null default 0,
  -- When a worker last handled its parked mail.
  tended_at timestamptz not null
);

create table destination_limits (
  destination text collate "C" primary key,
  connections integer check (connections > 0),
  messages_per_minute integer check (messages_per_minute > 0),
  changed_at timestamptz not null,
  check (connections is not null or messages_per_minute is not null)
);

-- The MTA-STS policies that workers have fetched, so that those in force survive a restart.
create table sts_policies (
  domain text collate "C" primary key,
  id text not null,
  mode text not null check (mode in ('enforce', 'testing', 'none')),
  mx text[] not null,
  expires_at timestamptz not null
);
create index sts_policies_expiry on sts_policies (expires_at);

-- One row for a limited destination and a minute. Unlogged: a crash of the database loses the current minute.
create unlogged table destination_minutes (
  destination text collate "C" not null,
  minute timestamptz not null,
  used integer not null,
  primary key (destination, minute)
) with (fillfactor = 50);
