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

create table operators (
  id text collate "C" primary key,
  email text not null unique,
  password_hash text not null,
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
  primary key (workspace_id, id)
);

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

-- What a workspace has sent in a month, in all and by day; one row, so that counting is one update.
create table usage_months (
  workspace_id text collate "C" not null references workspaces (id),
  month date not null,
  used bigint not null default 0,
  by_day bigint[] not null default array_fill(0::bigint, array[31]),
  primary key (workspace_id, month)
) with (fillfactor = 50);

-- Ends a batch that would exceed a limit which another process has just used up; it is judged again under a lock.
create function raise_quota_race() returns boolean language plpgsql as $$
begin
  raise exception 'a monthly limit was used up meanwhile' using errcode = 'PR001';
end $$;

-- One row for a key or a client address, a class and a minute. Unlogged: a crash of the database forgets
-- at most the minute it happened in, and each accepted mail stays spared one flushed page.
create unlogged table rate_windows (
  subject text collate "C" not null,
  class text collate "C" not null,
  minute timestamptz not null,
  used integer not null,
  primary key (subject, class, minute)
) with (fillfactor = 50);
