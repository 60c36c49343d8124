-- The release before can run on it: it knows none of these tables, and leaves them empty.

-- Bulk commands, each with a stated reason. The workspace is empty for a command of the instance. The runner locks
-- the row for each slice, so all that it decides by is here.
create table bulk_operations (
  id uuid primary key,
  workspace_id uuid not null,
  action text not null check (action in ('retry', 'cancel', 'give_up', 'send_now', 'delete', 'export', 'replay', 'redrive')),
  -- The requested filter as JSON; null fields do not filter.
  filter text not null,
  -- Rows created at this time or later are excluded.
  cutoff_at timestamptz not null,
  -- The number of matches in the preview; a lower bound if the count stopped at its limit.
  matched integer not null,
  matched_exact boolean not null,
  reason text not null,
  rate_per_second integer not null check (rate_per_second > 0),
  -- The actor that started it, as JSON: the command has that actor's permissions.
  actor text not null,
  actor_name text not null,
  status text not null check (status in ('queued', 'running', 'completed', 'canceled')),
  done integer not null default 0,
  failed integer not null default 0,
  skipped integer not null default 0,
  -- Whether it ended at the limit of its kind, before the end of the matches.
  truncated boolean not null default false,
  -- The last processed id; null before the first.
  position text collate "C",
  -- The job that may continue: one with an older number was lost and has been replaced.
  turn integer not null default 0,
  -- The next slice may not start earlier, because of the rate.
  next_at timestamptz not null,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz
);
create index bulk_operations_newest on bulk_operations (workspace_id, id);
-- Serves the reconciler.
create index bulk_operations_open on bulk_operations (next_at) where status in ('queued', 'running');
-- Serves the limit on open commands of a workspace.
create index bulk_operations_open_of on bulk_operations (workspace_id) where status in ('queued', 'running');

-- The result for each item, written in the commit of its change.
create table bulk_items (
  bulk_id uuid not null,
  -- In processing order.
  place integer not null,
  -- With the three letters of its kind.
  item_kind text collate "C" not null,
  item_id uuid not null,
  outcome text not null check (outcome in ('done', 'failed', 'skipped')),
  reason text,
  -- The exported entry as JSON; exports only.
  line text,
  at timestamptz not null,
  primary key (bulk_id, place)
);
-- No item is processed twice: the second attempt violates this index.
create unique index bulk_items_once on bulk_items (bulk_id, item_id);
create index bulk_items_undone on bulk_items (bulk_id, outcome, place) where outcome <> 'done';
-- Results with a line of an export are deleted sooner than those without.
create index bulk_items_lines on bulk_items (bulk_id) where line is not null;
