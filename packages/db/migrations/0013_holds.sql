-- The release before can run on it: it knows no holds, and would send what they keep back.

-- What somebody has stopped for a while. A row stays when the hold has ended: it says who held what, and for how long.
create table holds (
  id text collate "C" primary key,
  scope text not null check (scope in ('queue', 'destination', 'sender_domain', 'api_key', 'webhook')),
  value text collate "C" not null,
  -- Empty for what belongs to the instance.
  workspace_id text collate "C" not null,
  reason text not null,
  created_by_kind text not null,
  created_by_id text collate "C" not null,
  created_by_name text not null,
  -- What an operator holds, only an operator releases, also where it is a workspace's.
  by_operator boolean not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  ended_by text check (ended_by in ('release', 'expiry')),
  -- What was kept back goes on at this rate after the end, until drained_at.
  resume_rate_per_minute integer check (resume_rate_per_minute > 0),
  -- Up to when the rate has been used.
  resumed_until timestamptz,
  drained_at timestamptz
) with (fillfactor = 50);
create unique index holds_twin on holds (scope, value, workspace_id) where ended_at is null;
-- Serves the look of every worker, each second.
create index holds_in_force on holds (id)
  where ended_at is null or (resume_rate_per_minute is not null and drained_at is null);
create index holds_newest on holds (workspace_id collate "POSIX", id collate "POSIX");

-- What each worker says of itself every few seconds: that it is there, and how many attempts it ends in a minute just
-- now. Unlogged: a crash of the database forgets it until the next word.
create unlogged table delivery_workers (
  worker uuid primary key,
  noted_at timestamptz not null,
  stopped boolean not null,
  ended_per_minute integer not null
) with (fillfactor = 50);
