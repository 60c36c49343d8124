-- First release: nothing older runs on it.

-- The audit log, appended in the commit of the change. Each workspace has a chain of its own, in which every entry's
-- hash covers the one before it; entries without a workspace are in the chain of the empty name.
create table audit_log (
  workspace_id uuid not null,
  id uuid not null,
  sequence bigint not null,
  at timestamptz not null,
  actor_kind text not null check (actor_kind in ('key', 'user', 'system')),
  -- Null for the system.
  actor_id uuid,
  actor_name text not null,
  via text not null,
  action text collate "C" not null,
  -- The target: an id with the three letters of its kind, or the name of what has no id. Never an address, because the
  -- chain cannot be erased.
  target_kind text collate "C" not null,
  target_id uuid,
  target_name text collate "C",
  -- What changed, as JSON; never a secret and never a body.
  diff text,
  reason text,
  address text,
  request_id uuid not null,
  previous_hash bytea not null,
  hash bytea not null,
  primary key (workspace_id, id),
  unique (workspace_id, sequence),
  check ((target_id is null) <> (target_name is null))
);
-- Serve the list by action, target and actor; the primary key serves it unfiltered.
create index audit_log_target on audit_log (uuid_hash(workspace_id), target_id, id) where target_id is not null;
create index audit_log_named on audit_log (uuid_hash(workspace_id), target_name, id) where target_name is not null;
create index audit_log_action on audit_log (uuid_hash(workspace_id), action, id) where action is not null;
create index audit_log_actor on audit_log (uuid_hash(workspace_id), actor_id, id) where actor_id is not null;

-- The end of each chain. An append locks its row until the commit, so it is locked last.
create table audit_heads (
  workspace_id uuid primary key,
  sequence bigint not null,
  hash bytea not null
);

create function audit_hash(entry audit_log) returns bytea language sql stable as $$
  select sha256(entry.previous_hash || convert_to(jsonb_build_array(
    entry.workspace_id, entry.id, entry.sequence,
    to_char(entry.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    entry.actor_kind, entry.actor_id, entry.actor_name, entry.via, entry.action, entry.target_kind, entry.target_id,
    entry.target_name, entry.diff,
    entry.reason, entry.address, entry.request_id)::text, 'UTF8'))
$$;

create function chain_audit_entry() returns trigger language plpgsql as $$
begin
  insert into audit_heads (workspace_id, sequence, hash) values (new.workspace_id, 0, '') on conflict do nothing;
  update audit_heads set sequence = sequence + 1 where workspace_id = new.workspace_id
    returning sequence, hash into new.sequence, new.previous_hash;
  new.hash := audit_hash(new);
  update audit_heads set hash = new.hash where workspace_id = new.workspace_id;
  return new;
end $$;
create trigger chain_audit_entry before insert on audit_log for each row execute function chain_audit_entry();

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is only ever appended to';
end $$;
create trigger refuse_audit_change before update or delete on audit_log for each row execute function refuse_audit_change();
create trigger refuse_audit_truncate before truncate on audit_log for each statement execute function refuse_audit_change();
