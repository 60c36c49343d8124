-- The release before can run on it: it sends notices without taking a turn.

-- When a notice of the alarm was last given up.
alter table alarms add column notice_dropped_at timestamptz;

-- One owner's notices on one way are sent by one process at a time; an empty workspace means the instance. A row is there
-- while they are sent and after a failure.
create table notice_turns (
  workspace_id uuid not null,
  way text not null check (way in ('mail', 'webhook')),
  -- The end of the lease, or the time of the retry.
  next_at timestamptz not null,
  attempt_count integer not null default 0,
  primary key (workspace_id, way)
);
