-- First release: nothing older runs on it.

create table plans (
  name text collate "C" primary key,
  monthly_limit bigint,
  recipient_cap integer not null,
  send_per_minute integer not null default 1000,
  logs_per_minute integer not null default 60,
  default_per_minute integer not null default 120
);
insert into plans (name, monthly_limit, recipient_cap) values
  ('free', 3000, 10), ('starter', 50000, 50), ('growth', 500000, 50), ('business', null, 100);

create table workspaces (
  id text collate "C" primary key,
  name text not null,
  plan text collate "C" not null references plans (name),
  unknown_policy text not null default 'resend' check (unknown_policy in ('resend', 'stop')),
  created_at timestamptz not null
);

-- People who sign in. An e-mail address stands in one spelling, all lower case. Who came by a login link alone has no
-- password yet.
create table users (
  id text collate "C" primary key,
  email text collate "C" not null unique check (email = lower(email)),
  password_hash text,
  operator boolean not null default false,
  -- What they sign in with came from an operator last, and was never in the hands of an admin of a workspace.
  vouched boolean not null default false,
  created_at timestamptz not null
);

create table api_keys (
  workspace_id text collate "C" not null references workspaces (id),
  id text collate "C" not null unique,
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
  -- The key that a rotation has put in its place.
  replaced_by text collate "C",
  primary key (workspace_id, id)
);
-- A workspace may have so many keys that are neither revoked nor expired.
create index api_keys_active on api_keys (workspace_id, mode, coalesce(expires_at, 'infinity')) where revoked_at is null;

create table domains (
  workspace_id text collate "C" not null references workspaces (id),
  id text collate "C" not null unique,
  name text collate "C" not null,
  status text not null check (status in ('pending', 'verified', 'at_risk', 'failed', 'suspended')),
  sandbox boolean not null default false,
  created_at timestamptz not null,
  verified_at timestamptz,
  primary key (workspace_id, name)
);
-- A name belongs to whoever verified it first; others may list it as pending. The sandbox is everybody's.
create unique index domains_claim on domains (name) where status in ('verified', 'at_risk') and not sandbox;

-- Changes whenever one of the facts does that a process may remember between two accepts. The statement that
-- stores by remembered facts compares it, so a revoked key or a removed domain counts at once everywhere.
create table accept_epoch (
  only_row boolean primary key default true check (only_row),
  value bigint not null
) with (fillfactor = 10);
insert into accept_epoch (value) values (1);

create function begin_accept_epoch() returns trigger language plpgsql as $$
begin
  update accept_epoch set value = value + 1;
  return null;
end $$;

-- Only what the accept reads counts: a note of a key's last use, or a new row, makes nobody forget anything. The
-- triggers wait for the commit, so that every transaction takes the one row last and none deadlocks over it.
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

-- What a workspace has sent in a month, in all and by day; one row, so that counting is one update. The limit is
-- the plan's at the last accept: it stands in the row so that one upsert of many workspaces can compare with it.
create table usage_months (
  workspace_id text collate "C" not null references workspaces (id),
  month date not null,
  used bigint not null default 0,
  monthly_limit bigint,
  by_day bigint[] not null default array_fill(0::bigint, array[31]),
  primary key (workspace_id, month)
) with (fillfactor = 50);

-- Ends a batch that would exceed a limit which another process has just used up; it is judged again under a lock.
create function raise_quota_race() returns boolean language plpgsql as $$
begin
  raise exception 'a monthly limit was used up meanwhile' using errcode = 'PR001';
end $$;

-- Ends a batch that was to be stored by remembered facts where they, a window, a limit or a suppression stand in
-- the way; it is then judged by what stands in the tables.
create function raise_not_at_once() returns boolean language plpgsql as $$
begin
  raise exception 'what was remembered does not hold for all of the batch' using errcode = 'PR002';
end $$;

-- One row for a key or a client address, a class and a minute. Unlogged: a crash of the database forgets
-- at most the minute it happened in, and each accepted mail stays spared one flushed page. The allowance is what
-- the last send compared with, if it was stored by remembered facts.
create unlogged table rate_windows (
  subject text collate "C" not null,
  class text collate "C" not null,
  minute timestamptz not null,
  used integer not null,
  allowance integer,
  primary key (subject, class, minute)
) with (fillfactor = 50);
