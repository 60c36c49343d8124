-- The release before can run on it: it knows no holds, and would send what they keep back.

-- Holds. A row stays after the hold has ended, as a record of what was held, by which user and for how long.
create table holds (
  id uuid primary key,
  scope text not null check (scope in ('queue', 'destination', 'sender_domain', 'api_key', 'webhook')),
  -- A name, or the id of a key or a webhook; the other is empty.
  value text collate "C" not null default '',
  value_id uuid not null default no_id(),
  -- Empty for a hold of the instance.
  workspace_id uuid not null,
  reason text not null,
  created_by_kind text not null,
  -- Null for the system.
  created_by_id uuid,
  created_by_name text not null,
  -- A hold of an operator can only be released by an operator, even if it belongs to a workspace.
  by_operator boolean not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  ended_by text check (ended_by in ('release', 'expiry')),
  -- After the release, held mail is sent at this rate until drained_at.
  resume_rate_per_minute integer check (resume_rate_per_minute > 0),
  -- The time up to which the rate has been spent.
  resumed_until timestamptz,
  drained_at timestamptz
) with (fillfactor = 50);
create unique index holds_twin on holds (scope, value, value_id, workspace_id) where ended_at is null;
-- Serves the poll of every worker, each second.
create index holds_in_force on holds (id)
  where ended_at is null or (resume_rate_per_minute is not null and drained_at is null);
create index holds_newest on holds (workspace_id, id);

-- The heartbeat of each worker, every few seconds, with its present rate of attempts per minute. Unlogged: after a
-- crash of the database the next heartbeat fills it.
create unlogged table delivery_workers (
  worker uuid primary key,
  noted_at timestamptz not null,
  stopped boolean not null,
  ended_per_minute integer not null,
  -- The connection of the heartbeat: it ends with the process, at once.
  backend integer not null,
  backend_started_at timestamptz not null
) with (fillfactor = 50);
