-- The release before can run on it: it runs an erasure or a recovery to its end, without turns.

-- How far an erasure has come; null at its beginning.
alter table erasures add column step text;
alter table erasures add column position text collate "C";
-- Not before this; null for now.
alter table erasures add column due_at timestamptz;
create index erasures_open on erasures (workspace_id, id) where status <> 'completed';
create index erasures_newest on erasures (workspace_id, id);

-- Open recoveries. The row goes with its last slice.
create table webhook_recoveries (
  webhook_id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  since timestamptz not null,
  until timestamptz not null,
  -- The last event that was looked at.
  position text collate "C",
  due_at timestamptz,
  created_at timestamptz not null
);

-- When a workspace last had a slice of work of a kind, so that the one that waited longest is next.
create table workspace_turns (
  line text not null check (line in ('erasures', 'webhook_recoveries')),
  workspace_id uuid not null references workspaces (id),
  had_at timestamptz not null,
  primary key (line, workspace_id)
);
