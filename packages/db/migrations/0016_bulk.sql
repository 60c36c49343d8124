-- The release before can run on it: it knows none of these tables, and leaves them empty.

-- What is done to many at once, under a reason that somebody gave. The workspace is empty where it belongs to the
-- instance. A runner locks the row for each slice, so everything that it decides by stands here.
create table bulk_operations (
  id text collate "C" primary key,
  workspace_id text collate "C" not null,
  action text not null check (action in ('retry', 'cancel', 'send_now', 'delete', 'export', 'replay', 'redrive')),
  -- As it was asked for, as JSON; null fields ask nothing.
  filter text not null,
  -- Nothing that came at this time or later is touched.
  cutoff_at timestamptz not null,
  -- How many matched when it was previewed; not exact where the count stopped at its bound.
  matched integer not null,
  matched_exact boolean not null,
  reason text not null,
  rate_per_second integer not null check (rate_per_second > 0),
  -- Who started it, as JSON: what they may not touch is not touched for them.
  actor text not null,
  actor_name text not null,
  status text not null check (status in ('queued', 'running', 'completed', 'canceled')),
  done integer not null default 0,
  failed integer not null default 0,
  skipped integer not null default 0,
  -- It ended at the bound of its kind, and not at the end of what matches.
  truncated boolean not null default false,
  -- The last id that the walk has passed; null before the first.
  position text collate "C",
  -- The job that may go on: one under an older number was lost, and has been replaced.
  turn integer not null default 0,
  -- What the rate allows no sooner.
  next_at timestamptz not null,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz
);
create index bulk_operations_newest on bulk_operations (workspace_id, id);
-- Serves the reconciler.
create index bulk_operations_open on bulk_operations (next_at) where status in ('queued', 'running');
-- Serves the bound on how many a workspace has open.
create index bulk_operations_open_of on bulk_operations (workspace_id) where status in ('queued', 'running');

-- The receipts, each written in the commit of what it tells.
create table bulk_items (
  bulk_id text collate "C" not null,
  -- In the order in which they were done.
  place integer not null,
  item_id text collate "C" not null,
  outcome text not null check (outcome in ('done', 'failed', 'skipped')),
  reason text,
  -- Of an export: the entry, as JSON.
  line text,
  at timestamptz not null,
  primary key (bulk_id, place)
);
-- Nothing is done twice: whoever would fails here.
create unique index bulk_items_once on bulk_items (bulk_id, item_id);
create index bulk_items_undone on bulk_items (bulk_id, outcome, place) where outcome <> 'done';
-- Lines are forgotten sooner than the receipts that had none.
create index bulk_items_lines on bulk_items (bulk_id) where line is not null;
