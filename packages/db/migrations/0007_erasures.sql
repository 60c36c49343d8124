-- The release before can run on it, but it sends to an address that was erased while it was suppressed.

-- Erasures of an address. The address is here until its run has ended, and in no log of it.
create table erasures (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id),
  status text not null check (status in ('queued', 'running', 'completed')),
  email text collate "C",
  -- What was erased, as JSON from a kind to a number.
  counts text not null default '{}',
  created_at timestamptz not null,
  finished_at timestamptz,
  check ((email is null) = (status = 'completed'))
);

-- Whether a suppression is kept under a hash. Until then no claim looks for one.
alter table suppression_hash_keys add column in_use boolean not null default false;
