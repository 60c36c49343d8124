-- The release before can run on it: it reads no rules of workspaces, so their email leaves as if they had no transports,
-- and what waits for these moves on.

-- The transports that a workspace may have of its own; null: only the product limit applies.
alter table plans add column transport_limit integer default 0;
update plans set transport_limit = null where name = 'business';

-- Null: of the instance. A transport of a workspace carries its email alone.
alter table transports add column workspace_id uuid references workspaces (id);
alter table transports drop constraint transports_name_key;
create unique index transports_name on transports (coalesce(workspace_id, no_id()), name);
create index transports_workspace on transports (workspace_id) where workspace_id is not null;

-- Come before the rules of the instance. The nil uuid among the transports stands for what those say.
create table workspace_transport_rules (
  workspace_id uuid not null references workspaces (id),
  position integer not null,
  from_domain text collate "C",
  tag text collate "C",
  priority mail_priority,
  destination text collate "C",
  transports uuid[] not null check (cardinality(transports) > 0),
  primary key (workspace_id, position)
);

-- Grows with every change of a workspace's transports or rules, and each such workspace has the version of its last one.
alter table transport_versions add column workspace_version bigint not null default 0;
create table workspace_transport_versions (
  workspace_id uuid primary key references workspaces (id),
  version bigint not null
);
create index workspace_transport_versions_version on workspace_transport_versions (version);
