-- First release: nothing older runs on it.

create table plans (
  name text collate "C" primary key,
  monthly_limit bigint,
  recipient_cap integer not null,
  send_per_minute integer not null default 1000,
  logs_per_minute integer not null default 60,
  default_per_minute integer not null default 120,
  -- How many a workspace may have; null for no limit but that of the product.
  key_limit integer,
  domain_limit integer,
  webhook_limit integer,
  member_limit integer,
  capture_bytes_limit bigint
);
insert into plans (name, monthly_limit, recipient_cap) values
  ('free', 3000, 10), ('starter', 50000, 50), ('growth', 500000, 50), ('business', null, 100);

create table workspaces (
  id uuid primary key,
  name text not null,
  plan text collate "C" not null references plans (name),
  unknown_policy text not null default 'resend' check (unknown_policy in ('resend', 'stop')),
  created_at timestamptz not null
);

-- Users. Email addresses are stored in lower case. A user who has only signed in by a login link has no password yet.
create table users (
  id uuid primary key,
  email text collate "C" not null unique check (email = lower(email)),
  password_hash text,
  operator boolean not null default false,
  -- The current credential was issued by an operator, and no admin of a workspace has ever seen it.
  vouched boolean not null default false,
  created_at timestamptz not null
);

create table api_keys (
  workspace_id uuid not null references workspaces (id),
  id uuid not null unique,
  name text not null,
  secret_hash bytea not null unique,
  prefix text not null,
  last4 text not null,
  scopes text[] not null,
  mode text not null check (mode in ('live', 'sandbox')),
  domains text[],
  allowed_ips cidr[],
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  -- The key that replaces this one after a rotation.
  replaced_by uuid,
  primary key (workspace_id, id)
);
-- Serves the limit on active keys of a workspace: neither revoked nor expired.
create index api_keys_active on api_keys (workspace_id, mode, coalesce(expires_at, 'infinity')) where revoked_at is null;

create table domains (
  workspace_id uuid not null references workspaces (id),
  id uuid not null unique,
  name text collate "C" not null,
  status text not null check (status in ('pending', 'verified', 'at_risk', 'failed', 'suspended')),
  sandbox boolean not null default false,
  created_at timestamptz not null,
  verified_at timestamptz,
  primary key (workspace_id, name)
);
-- A name belongs to the first workspace that verified it; others may list it as pending. All share the sandbox.
create unique index domains_claim on domains (name) where status in ('verified', 'at_risk') and not sandbox;

-- The epoch of the admission cache: changes with every fact that a process may cache between two accepts. The fast
-- path's statement compares it, so a revoked key or a removed domain counts immediately in every process.
create table accept_epoch (
  only_row boolean primary key default true check (only_row),
  value bigint not null
) with (fillfactor = 10);
insert into accept_epoch (value) values (1);

create function begin_accept_epoch() returns trigger language plpgsql as $$
begin
  -- By a random step: after a failover to a standby that lags, the same number would stand for another state.
  update accept_epoch set value = value + 1 + (random() * 16777216)::bigint;
  return null;
end $$;

-- Only columns that the accept reads count: a key's last use, or a new row, invalidates no cache. The triggers are
-- deferred to the commit, so that every transaction locks the one row last and none deadlocks over it.
create constraint trigger forget_changed_keys after update on api_keys deferrable initially deferred for each row
  when (row(old.workspace_id, old.id, old.secret_hash, old.scopes, old.mode, old.domains, old.allowed_ips, old.expires_at, old.revoked_at)
    is distinct from
    row(new.workspace_id, new.id, new.secret_hash, new.scopes, new.mode, new.domains, new.allowed_ips, new.expires_at, new.revoked_at))
  execute function begin_accept_epoch();
create constraint trigger forget_deleted_keys after delete on api_keys deferrable initially deferred for each row execute function begin_accept_epoch();
create constraint trigger forget_changed_domains after update on domains deferrable initially deferred for each row
  when (row(old.workspace_id, old.name, old.status, old.sandbox)
    is distinct from row(new.workspace_id, new.name, new.status, new.sandbox))
  execute function begin_accept_epoch();
create constraint trigger forget_deleted_domains after delete on domains deferrable initially deferred for each row execute function begin_accept_epoch();
create constraint trigger forget_changed_workspaces after update on workspaces deferrable initially deferred for each row
  when (old.plan is distinct from new.plan) execute function begin_accept_epoch();
create constraint trigger forget_changed_plans after update on plans deferrable initially deferred for each row execute function begin_accept_epoch();

-- What a workspace has sent in a month, in total and by day; one row, so that counting is one update. The limit is
-- the plan's at the last accept, stored here so that one upsert of many workspaces can compare with it.
create table usage_months (
  workspace_id uuid not null references workspaces (id),
  month date not null,
  used bigint not null default 0,
  monthly_limit bigint,
  by_day bigint[] not null default array_fill(0::bigint, array[31]),
  primary key (workspace_id, month)
) with (fillfactor = 50);

-- Aborts a batch that exceeds a limit which another process has just used up; it is checked again under a lock.
create function raise_quota_race() returns boolean language plpgsql as $$
begin
  raise exception 'a monthly limit was used up meanwhile' using errcode = 'PR001';
end $$;

-- Aborts a batch on the fast path if the admission cache is stale or a window, a limit or a suppression refuses a
-- message; the slow path then checks the tables.
create function raise_not_fast() returns boolean language plpgsql as $$
begin
  raise exception 'what was remembered does not hold for all of the batch' using errcode = 'PR002';
end $$;

-- One row for a key, a session, a workspace or a client address, whose id is a hash of it, a class and a minute. Unlogged: a crash of the database forgets
-- at most the current minute, and each accepted mail is spared one flushed page. The allowance is the limit that the
-- last send compared with, if it took the fast path.
create unlogged table rate_windows (
  subject uuid not null,
  class text collate "C" not null,
  minute timestamptz not null,
  used integer not null,
  allowance integer,
  -- When the key last changed anything: its own reads after that must not come from a replica.
  wrote_at timestamptz,
  primary key (subject, class, minute)
) with (fillfactor = 50);
