-- First release: nothing older runs on it.

-- The baseline: the schema of the first release. It is never edited again and migrations are not squashed again, so what
-- a database has is this file and the numbered ones after it. In the order of the sections below:
--
--   Time and ids            the clock, ids as uuids, their texts
--   Partitions              tables by month, week or day, and the only functions that make or drop tables at run time
--   Workspaces and people   plans, workspaces, users, members, sessions, API keys
--   Domains                 sending domains and their DKIM keys
--   Admission               epoch of the cache, monthly volume, rate windows, idempotency keys
--   Mail                    messages, tags, bodies, recipients, attempts, transcripts, events
--   Suppressions, captures
--   Delivery                lanes, parked mail, destinations, MTA-STS, holds, heartbeats
--   Webhooks                endpoints, deliveries, attempts, leases
--   Queues                  settings, measures and workers of the job queues
--   Statistics              roll-ups, failure groups, backlog
--   Bulk operations, GraphQL, audit log, alarms, request log
--   Roles                   what the role of the application is granted
--
-- The tables of the job queue itself are in the schema pgboss, which npm run migrate makes after the migrations.

-- ------ Time and ids

-- The one clock that decides what is due, expired or in a window. A test database replaces it.
create function clock_now() returns timestamptz language sql stable as $$ select now() $$;

-- Ids. An id is a uuid of version 8: 48 bits of milliseconds, then random bits, and its kind in the last five. The
-- application writes it as a prefix and 26 letters of base32. The functions from here to id_floor are for people in
-- psql, for texts that SQL makes, and for ids that are derived from others.

-- What a column holds that says "none" and is not null, such as the workspace of what belongs to the instance.
create function no_id() returns uuid language sql immutable parallel safe as $$
  select '00000000-0000-0000-0000-000000000000'::uuid
$$;

-- The kinds by the number in their last five bits, from 1. packages/db/src/ids.ts has the same list.
create function id_kinds() returns text[] language sql immutable parallel safe as $$
  select '{msg,rcp,att,evt,key,dom,whk,whd,sup,req,wsp,usr,hld,aud,blk,job,cap,dkk,ses,alm,imp,ers}'::text[]
$$;

-- The text of an id: select id_text(id) from messages. The kind has to be given for what carries none, as a job.
create function id_text(id uuid, kind text default null) returns text language plpgsql immutable parallel safe as $$
declare
  bytes bytea := uuid_send(id);
  high bigint := ('x' || encode(substr(bytes, 1, 8), 'hex'))::bit(64)::bigint;
  low bigint := ('x' || encode(substr(bytes, 9, 8), 'hex'))::bit(64)::bigint;
  body text := '';
  value int;
begin
  if id is null or id = no_id() then
    return case when id is not null then '' end;
  end if;
  if kind is null then
    if get_byte(bytes, 6) >> 4 <> 8 then
      return id::text;
    end if;
    kind := (id_kinds())[get_byte(bytes, 15) & 31];
  end if;
  -- The letters from the right: twelve from the low half, one across the two, thirteen from the high half.
  for place in 0..25 loop
    value := case
      when place < 12 then (low >> (5 * place)) & 31
      when place = 12 then ((low >> 60) & 15) | ((high & 1) << 4)
      else (high >> (5 * place - 64)) & case when place = 25 then 7 else 31 end
    end;
    body := substr('0123456789abcdefghjkmnpqrstvwxyz', value + 1, 1) || body;
  end loop;
  return kind || '_' || body;
end $$;

-- The id of a text, to look for it in psql: select * from messages where id = id_of('msg_…'). Null for what is none.
create function id_of(id text) returns uuid language plpgsql immutable strict parallel safe as $$
declare
  bits text := '';
begin
  if id !~ '^[a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25}$' then
    return null;
  end if;
  for place in 5..30 loop
    bits := bits || (strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(id, place, 1)) - 1)::bit(5)::text;
  end loop;
  return (lpad(to_hex(substr(bits, 3, 32)::bit(32)::bigint & 4294967295), 8, '0')
    || lpad(to_hex(substr(bits, 35, 32)::bit(32)::bigint & 4294967295), 8, '0')
    || lpad(to_hex(substr(bits, 67, 32)::bit(32)::bigint & 4294967295), 8, '0')
    || lpad(to_hex(substr(bits, 99, 32)::bit(32)::bigint & 4294967295), 8, '0'))::uuid;
end $$;

-- The smallest id at a time. Partition bounds are made of these.
create function id_floor(at timestamptz) returns uuid language sql immutable strict parallel safe as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- An id of a kind with the time of another and bits that follow from a text: made again, it is the same.
create function derived_id(kind text, moment uuid, seed text) returns uuid language plpgsql immutable strict parallel safe as $$
declare
  bytes bytea := substr(uuid_send(moment), 1, 6) || substr(sha256(convert_to(seed, 'UTF8')), 1, 10);
begin
  bytes := set_byte(bytes, 6, 128 | (get_byte(bytes, 6) & 15));
  bytes := set_byte(bytes, 8, 128 | (get_byte(bytes, 8) & 63));
  bytes := set_byte(bytes, 15, (get_byte(bytes, 15) & 224) | array_position(id_kinds(), kind));
  return encode(bytes, 'hex')::uuid;
end $$;

-- Postgres has no min and max of uuids before version 18 and later ones may.
create function lesser_id(a uuid, b uuid) returns uuid language sql immutable strict parallel safe as $$ select least(a, b) $$;
create function greater_id(a uuid, b uuid) returns uuid language sql immutable strict parallel safe as $$ select greatest(a, b) $$;
create aggregate min(uuid) (sfunc = lesser_id, stype = uuid, combinefunc = lesser_id, parallel = safe, sortop = operator(<));
create aggregate max(uuid) (sfunc = greater_id, stype = uuid, combinefunc = greater_id, parallel = safe, sortop = operator(>));

-- ------ Partitions

-- The tables that are partitioned by time, over the id in their key, which begins with it. What must be kept for a
-- shorter time is in shorter partitions.
create view partitioned_tables (parent, period) as values
  ('messages', 'month'), ('message_tags', 'month'), ('bodies', 'week'), ('recipients', 'month'), ('attempts', 'month'),
  ('transcripts', 'week'), ('events', 'month'), ('captures', 'day'), ('webhook_deliveries', 'month'),
  ('webhook_attempts', 'month');

-- Makes one partition and moves into it what landed in the default partition meanwhile. Postgres
-- refuses a partition for rows that the default holds, so the table is filled first and attached then.
-- The lock on the parent also makes waiting statements replan, so that they see the partition. A dump may lock
-- the parent for hours and every statement would queue behind this lock, so its timeout is short: the rows are
-- as safe in the default, and the next call tries again.
create function add_partition(parent text, period text, start timestamptz) returns void language plpgsql
  set lock_timeout = '2s' set timezone = 'UTC' set search_path = public, pg_temp as $$
declare
  child text := partition_name(parent, period, start);
  low uuid := id_floor(start);
  high uuid := id_floor(start + ('1 ' || period)::interval);
  key text;
  columns text;
begin
  execute format('lock table only %I in access exclusive mode', parent);
  select a.attname into strict key
  from pg_partitioned_table p
  join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0]
  where p.partrelid = parent::regclass;
  execute format('create table %I (like %I including all)', child, parent);
  -- Room in each page for HOT updates: a claim updates its row and writes no index entry.
  if parent in ('recipients', 'webhook_deliveries') then
    execute format('alter table %I set (fillfactor = 50)', child);
  end if;
  -- Generated columns are computed by the new table.
  select string_agg(quote_ident(attname), ', ' order by attnum) into columns from pg_attribute
  where attrelid = parent::regclass and attnum > 0 and not attisdropped and attgenerated = '';
  execute format(
    'with moved as (delete from %1$I where %2$I >= %3$L and %2$I < %4$L returning *) insert into %5$I (%6$s) select %6$s from moved',
    parent || '_default', key, low, high, child, columns);
  execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, child, low, high);
end $$;

-- A partition is named by its month, or by the day on which its week or day begins.
create function partition_name(parent text, period text, start timestamptz) returns text language sql stable as $$
  select parent || '_' || to_char(start at time zone 'UTC', case period when 'month' then 'YYYYMM' else 'YYYYMMDD' end)
$$;

-- The periods from the last one to some ahead of a time that have no partition yet. It reads pg_class and not
-- to_regclass, whose cache may lack what another session has just committed.
create function missing_periods(parent text, period text, around timestamptz) returns setof timestamptz language sql stable as $$
  select wanted.start
  from (
    select (date_trunc(period, around at time zone 'UTC') + ahead * ('1 ' || period)::interval) at time zone 'UTC' as start
    from generate_series(-1, 2) as ahead
  ) as wanted
  where not exists (
    select from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = parent::regclass and c.relname = partition_name(parent, period, wanted.start)
  )
$$;

-- Makes the partitions of one table, by 'month', 'week' or 'day'. Rows whose id lies outside land in the default
-- partition, so a wrong clock costs order and never a mail.
-- The application owns no table, so that this runs as the owner.
create function ensure_partitions(parent text, period text, around timestamptz) returns void language plpgsql
  security definer set search_path = public, pg_temp as $$
declare
  start timestamptz;
begin
  if not exists (
    select from partitioned_tables t where t.parent = ensure_partitions.parent and t.period = ensure_partitions.period
  ) then
    raise exception '% is not partitioned by %', parent, period;
  end if;
  if to_regclass(parent || '_default') is null then
    execute format('create table %I partition of %I default', parent || '_default', parent);
  end if;
  if not exists (select from missing_periods(parent, period, around)) then
    return;
  end if;
  -- Processes that start together arrive here together: after the wait for the lock, check again.
  perform pg_advisory_xact_lock(hashtextextended('partitions of ' || parent, 0));
  for start in select * from missing_periods(parent, period, around) loop
    perform add_partition(parent, period, start);
  end loop;
end $$;

create function ensure_all_partitions(around timestamptz) returns void language plpgsql as $$
begin
  perform ensure_partitions(parent, period, around) from partitioned_tables;
end $$;

-- Drops a partition if nothing in it is still needed; returns whether it is gone. The lock on the parent, whose
-- timeout is as short as in add_partition, is taken only if the partition can be dropped. As ensure_partitions, it runs
-- as the owner.
create function drop_partition(parent text, child text) returns boolean language plpgsql
  security definer set lock_timeout = '2s' set search_path = public, pg_temp as $$
declare
  keep text := case parent when 'webhook_deliveries' then 'state = ''pending'''
    when 'webhook_attempts' then 'false' when 'captures' then 'true' end;
  look text := format('select exists (select from %I where %s)', child, keep);
  kept boolean;
begin
  if keep is null then
    raise exception 'no partition of % may be dropped', parent;
  end if;
  -- Two processes that had both read the table would each hold a lock that the other needs: a deadlock.
  perform pg_advisory_xact_lock(hashtextextended('partitions of ' || parent, 0));
  if not exists (
    select from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = parent::regclass and c.relname = child
  ) then
    -- Another process has dropped it.
    return true;
  end if;
  execute look into kept;
  if not kept then
    execute format('lock table only %I in access exclusive mode', parent);
    execute look into kept;
  end if;
  if not kept then
    execute format('drop table %I', child);
  end if;
  return not kept;
exception when undefined_table then
  return true;
end $$;

-- ------ Workspaces and people

-- What a workspace pays for: its monthly volume, recipients per mail, requests a minute, and how much it may have.
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

-- The tenants. All data but that of the instance belongs to one of them; the empty id stands for the instance.
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

-- The members of workspaces and their roles. Operators need no row: they may act in every workspace.
create table members (
  workspace_id uuid not null references workspaces (id),
  user_id uuid not null references users (id),
  role text not null check (role in ('viewer', 'member', 'admin')),
  created_at timestamptz not null,
  primary key (workspace_id, user_id)
);
create index members_of_user on members (user_id);

-- A session is found by the hash of its token, which only the browser has. It acts in one workspace at a time.
create table sessions (
  id uuid primary key,
  token_hash bytea not null unique,
  user_id uuid not null references users (id),
  workspace_id uuid not null references workspaces (id),
  -- Started by a login link, which counts as much as the current password.
  by_link boolean not null,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  -- The time of the last authentication by password or login link.
  authenticated_at timestamptz not null
);
create index sessions_of_user on sessions (user_id);

-- Bearer tokens of sessions for /v1 and /graphql, valid for minutes. They end with their session.
create table session_tokens (
  token_hash bytea primary key,
  session_id uuid not null references sessions (id) on delete cascade,
  expires_at timestamptz not null
);
create index session_tokens_of_session on session_tokens (session_id);

create table login_links (
  token_hash bytea primary key,
  user_id uuid not null references users (id),
  expires_at timestamptz not null
);
create index login_links_of_user on login_links (user_id);

-- Failed logins, by the hash of the email address or by client address. Unlogged: a crash of the database resets them.
create unlogged table login_failures (
  subject text collate "C" primary key,
  began_at timestamptz not null,
  failed integer not null
) with (fillfactor = 50);

-- Credentials of applications, found by the hash of their secret.
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

-- Serves the question whether a workspace has or had a sandbox key.
create index api_keys_sandbox on api_keys (workspace_id) where mode = 'sandbox';

-- ------ Domains

-- Sending domains. Those that are not the sandbox have to be proven by records of the DNS.
create table domains (
  workspace_id uuid not null references workspaces (id),
  id uuid not null unique,
  name text collate "C" not null,
  status text not null check (status in ('pending', 'verified', 'at_risk', 'failed', 'suspended')),
  sandbox boolean not null default false,
  created_at timestamptz not null,
  verified_at timestamptz,
  -- Null for the sandbox, which needs no verification.
  ownership_token text,
  -- A name under the domain; the envelope's domain once its record has been found.
  return_path text collate "C",
  return_path_ready boolean not null default false,
  -- Whether it has a second key, whose signature few receivers check.
  dkim_ed25519 boolean not null default false,
  -- The keys that sign now. Next and retired keys of the domain may be published too.
  signing_key_ids uuid[] not null default '{}',
  status_since timestamptz not null default clock_now(),
  status_reason text,
  last_checked_at timestamptz,
  next_check_at timestamptz,
  -- The last check's result for each record, as JSON.
  checks text not null default '{}',
  primary key (workspace_id, name)
);
-- A name belongs to the first workspace that verified it; others may list it as pending. All share the sandbox.
create unique index domains_claim on domains (name) where status in ('verified', 'at_risk') and not sandbox;

-- Serves the background check: the domains that are due.
create index domains_due on domains (next_check_at) where next_check_at is not null;

-- The keys that sign the mail of a domain, by their role.
-- A key never changes, its role does. Each has a selector of its own, because a name in the DNS publishes one key.
create table dkim_keys (
  workspace_id uuid not null,
  domain_id uuid not null references domains (id) on delete cascade,
  id uuid primary key,
  selector text collate "C" not null,
  algorithm text not null check (algorithm in ('rsa', 'ed25519')),
  -- As in p= of the record.
  public_key text not null,
  -- PKCS #8, encrypted under SECRET_KEY for this id.
  encrypted_private_key bytea not null,
  -- Next: its record is to be published. Active: it signs. Retired: mail that it signed may still be under way.
  role text not null check (role in ('next', 'active', 'retired')),
  role_since timestamptz not null,
  -- Since when every check has found its record correct, and for how long that must last before it signs: as long as
  -- caches may hold an earlier record of that name.
  right_since timestamptz,
  wait_seconds integer not null default 0,
  created_at timestamptz not null,
  unique (domain_id, selector)
);

-- ------ Admission

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

-- One row for a key, a session, a workspace or a client address, whose id is a hash of it, a class and a minute.
-- Unlogged: a crash of the database forgets at most the current minute, and each accepted mail is spared one flushed
-- page. The allowance is the limit that the last send compared with, if it took the fast path.
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

-- What a request with an Idempotency-Key was answered, until the key expires.
create table idempotency_keys (
  workspace_id uuid not null references workspaces (id),
  operation text collate "C" not null,
  key text collate "C" not null,
  fingerprint bytea not null,
  answer text not null,
  expires_at timestamptz not null,
  primary key (workspace_id, operation, key)
);
create index idempotency_keys_expiry on idempotency_keys (expires_at);

-- ------ Mail

-- In the order of the aggregate: a message's status is the least of its recipients' states, open ones first.
create type delivery_state as enum (
  'scheduled', 'queued', 'deferred', 'sending',
  'failed', 'bounced', 'complained', 'suppressed', 'canceled', 'delivered'
);
create type recipient_kind as enum ('to', 'cc', 'bcc');
create type mail_priority as enum ('high', 'normal', 'bulk');
create type mail_retention as enum ('default', 'none');

-- One row for each mail; what concerns one of its recipients is in recipients, and its content in bodies.
create table messages (
  workspace_id uuid not null,
  id uuid not null,
  status delivery_state not null,
  mode text not null,
  from_address text not null,
  from_email text collate "C" not null,
  from_domain text collate "C" not null,
  to_addresses text[] not null,
  cc_addresses text[] not null,
  bcc_addresses text[] not null,
  reply_to text,
  subject text not null,
  tags text[] not null,
  metadata text not null,
  recipient_count smallint not null,
  -- Orders the mail of a workspace inside its lane.
  priority mail_priority not null default 'normal',
  -- Whether the content is kept after the last recipient is closed.
  retain mail_retention not null default 'default',
  -- The approximate size of the body, so that a worker knows it before reading.
  body_bytes integer not null default 0,
  api_key_id uuid,
  request_id uuid not null,
  resend_of uuid,
  -- The traceparent of its commit, for a sampled trace.
  trace_parent text,
  created_at timestamptz not null,
  scheduled_at timestamptz,
  sent_at timestamptz,
  delivered_at timestamptz,
  event_count integer not null,
  last_event_type text not null,
  last_event_at timestamptz not null,
  -- Scans of all messages and lookups by id need the domain without a join.
  primary key (workspace_id, id) include (from_domain)
) partition by range (id);

-- The indexes of lists begin with a hash of the workspace, which the primary keys do not: only a query that asks by
-- that hash can use one, and it cannot use a primary key. Otherwise every lookup by workspace and id would match these
-- indexes as well as the primary key, and on a small or not yet analysed table the planner cannot tell which is better.
-- The hash is also a quarter as long as the id. For the same reason each index has a predicate "column is not null",
-- which always holds: only a query on that column can use it.
create index messages_status on messages (uuid_hash(workspace_id), status, id)
  where status is not null;
-- Serves the log by sender and, one sender after another, by sending domain.
create index messages_sender on messages
  (uuid_hash(workspace_id), from_domain, from_email, id)
  where from_email is not null;

-- The tags of a workspace, each under a number, so that the rows and index entries of tagged mail are short.
create table tags (
  workspace_id uuid not null,
  name text collate "C" not null,
  id integer generated always as identity unique,
  primary key (workspace_id, name)
);

-- The number of a tag, which it gets at its first use. A statement that names several does so in the order of their
-- names: two that make the same ones wait for each other.
create function intern_tag(of_workspace uuid, tag text) returns integer language plpgsql as $$
declare
  found_id integer;
begin
  loop
    select id into found_id from tags where workspace_id = of_workspace and name = tag;
    if found_id is not null then
      return found_id;
    end if;
    insert into tags (workspace_id, name) values (of_workspace, tag) on conflict do nothing;
  end loop;
end $$;

-- Which mail has which tag; only tagged mail has rows here.
create table message_tags (
  tag_id integer not null,
  message_id uuid not null,
  primary key (tag_id, message_id)
) partition by range (message_id);

-- Keys of a message's rows begin with its id, which grows with time: new rows of all workspaces land on the same few
-- pages at the end.

-- The content of a mail: written once and never updated, because what changes is on rows without a body.
create table bodies (
  workspace_id uuid not null,
  message_id uuid not null,
  html text,
  text text,
  headers text not null,
  attachments text not null,
  primary key (message_id, workspace_id)
) partition by range (message_id);

-- One row for each recipient of a mail: its state, when it is due, its job and its lease.
create table recipients (
  workspace_id uuid not null,
  message_id uuid not null,
  id uuid not null,
  email text collate "C" not null,
  domain text collate "C" not null,
  kind recipient_kind not null,
  state delivery_state not null,
  due_at timestamptz not null,
  job_id uuid,
  lease uuid,
  lease_until timestamptz,
  -- The lease under which DATA began, for mail of which a lost reply must not lead to a second copy.
  content_lease uuid,
  attempt_count integer not null default 0,
  first_attempt_at timestamptz,
  last_response text,
  reason text,
  -- An operator gave up on it while it was being sent: it ends with that attempt.
  giving_up boolean not null default false,
  -- No index holds the state: a claim changes it and writes no index entry.
  is_open boolean not null generated always as (state in ('scheduled', 'queued', 'deferred', 'sending')) stored,
  primary key (message_id, id, workspace_id)
) partition by range (message_id);
-- Serves the reconciler: open recipients by the time they are due.
create index recipients_open on recipients (due_at) where is_open;
-- Serves the log by recipient.
create index recipients_email on recipients (uuid_hash(workspace_id), email, message_id) where email is not null;

-- What each attempt to deliver came to, appended.
create table attempts (
  workspace_id uuid not null,
  message_id uuid not null,
  id uuid not null,
  recipient_id uuid not null,
  number integer not null,
  outcome text not null check (outcome in ('accepted', 'deferred', 'rejected', 'unknown')),
  -- The category of a refusal, or null.
  category text,
  stage text not null,
  target text not null,
  address text,
  tls text,
  tls_policy text,
  reply_code integer,
  reply_enhanced text,
  reply_text text,
  error text,
  phases_ms text not null,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  primary key (message_id, id, workspace_id)
) partition by range (message_id);

-- The SMTP dialogues of attempts, apart from them because they are kept for a shorter time.
create table transcripts (
  workspace_id uuid not null,
  message_id uuid not null,
  attempt_id uuid not null,
  transcript text not null,
  primary key (message_id, attempt_id, workspace_id)
) partition by range (message_id);

-- What happened to mail, domains, webhooks and volumes, appended: the source of timelines, webhooks and statistics.
-- An event that is not about a mail has no message_id; the ids in its facts say their kind.
create table events (
  workspace_id uuid not null,
  id uuid not null,
  type text not null,
  message_id uuid,
  recipient_id uuid,
  sequence integer not null,
  facts text not null,
  created_at timestamptz not null,
  primary key (workspace_id, id)
) partition by range (id);
create index events_message on events (message_id, id) where message_id is not null;
-- Serves the list by type. Nearly every event is of one of the two excluded types: the primary key finds those
-- quickly, and the accept writes no entry here.
create index events_uncommon on events (uuid_hash(workspace_id), type, id)
  where type not in ('email.queued', 'email.delivered');

-- Records the event when 80 % of a month's volume is used, in the commit that gets there. It costs an accept one
-- comparison for each workspace.
create function warn_of_quota() returns trigger language plpgsql as $$
declare
  resets_at timestamptz := (new.month + interval '1 month') at time zone 'UTC';
begin
  insert into events (workspace_id, id, type, sequence, facts, created_at)
  values (
    new.workspace_id,
    derived_id('evt', id_floor(clock_now()), new.workspace_id::text || new.month),
    'quota.warning', 0,
    json_build_object('quota', json_build_object('limit', new.monthly_limit, 'used', new.used,
      'resets_at', to_char(resets_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))::text,
    clock_now()
  );
  return null;
end $$;
create trigger warn_of_quota after update of used on usage_months for each row
  when (new.monthly_limit is not null and old.used * 5 < new.monthly_limit * 4 and new.used * 5 >= new.monthly_limit * 4)
  execute function warn_of_quota();

-- ------ Suppressions

-- The normal form of an address on the suppression list. RFC 5321 allows a case-sensitive local part, but no server
-- in use has one: addresses are compared in lower case.
create function suppression_key(email text) returns text language sql immutable parallel safe as $$
  select lower(email collate "C")
$$;

-- Addresses that a workspace sends nothing to.
create table suppressions (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  email text collate "C" not null check (email = suppression_key(email)),
  source text not null default 'manual' check (source in ('manual', 'import', 'bounce', 'complaint')),
  reason text,
  source_event_id uuid,
  created_at timestamptz not null,
  expires_at timestamptz,
  primary key (workspace_id, email)
);
-- Serves the list, newest first, and lookups by id.
create unique index suppressions_newest on suppressions (uuid_hash(workspace_id), id);
-- Serves the job that removes expired ones.
create index suppressions_expiry on suppressions (expires_at) where expires_at is not null;

-- The random key under which addresses are hashed that have been erased and stay suppressed, encrypted under
-- SECRET_KEY. A rotation of SECRET_KEY encrypts it again and changes no hash.
create table suppression_hash_keys (
  id uuid primary key,
  encrypted_key bytea not null,
  created_at timestamptz not null
);

-- ------ Captures

-- Mail that the built-in capture received instead of a remote server.
create table captures (
  workspace_id uuid not null,
  id uuid not null,
  envelope_from text not null,
  envelope_to text[] not null,
  subject text not null,
  message_id uuid,
  raw bytea not null,
  -- Of raw, so that a quota is counted without reading it.
  size_bytes integer not null,
  received_at timestamptz not null,
  primary key (workspace_id, id)
) partition by range (id);
create index captures_newest on captures (id);

-- lz4 costs a fraction of the default compression; a server built without it keeps the default.
do $$
begin
  alter table bodies alter column html set compression lz4, alter column text set compression lz4,
    alter column attachments set compression lz4;
  alter table transcripts alter column transcript set compression lz4;
  alter table captures alter column raw set compression lz4;
exception when feature_not_supported then
  raise notice 'this server has no lz4; bodies use pglz';
end $$;

-- ------ Delivery

-- Parked recipients: due, but waiting for their lane outside the queue. A row keeps the id of the job that it was,
-- which the recipient refers to, so that parking updates no recipient.
create table parked_deliveries (
  job_id uuid primary key,
  lane text collate "C" not null,
  workspace_id uuid not null,
  message_id uuid not null,
  recipient_id uuid not null,
  due_at timestamptz not null
);
-- Serves the next slice of a lane: one workspace after another, each in the order of its due times.
create index parked_deliveries_turn on parked_deliveries (lane, workspace_id, due_at, job_id);

-- The state of lanes that were closed or have parked mail, shared by the workers; a lane without a row is open.
create table lanes (
  lane text collate "C" primary key,
  closed_until timestamptz,
  reason text check (reason in ('failing', 'limit')),
  last_reply text,
  -- Consecutive failures, without an accepted mail in between.
  closings integer not null default 0,
  -- When a worker last handled its parked mail.
  tended_at timestamptz not null
);

-- Limits that operators have set for a destination.
create table destination_limits (
  destination text collate "C" primary key,
  connections integer check (connections > 0),
  messages_per_minute integer check (messages_per_minute > 0),
  changed_at timestamptz not null,
  check (connections is not null or messages_per_minute is not null)
);

-- The MTA-STS policies that workers have fetched, so that those in force survive a restart.
create table sts_policies (
  domain text collate "C" primary key,
  id text not null,
  mode text not null check (mode in ('enforce', 'testing', 'none')),
  mx text[] not null,
  expires_at timestamptz not null
);
create index sts_policies_expiry on sts_policies (expires_at);

-- One row for a limited destination and a minute. Unlogged: a crash of the database loses the current minute.
create unlogged table destination_minutes (
  destination text collate "C" not null,
  minute timestamptz not null,
  used integer not null,
  primary key (destination, minute)
) with (fillfactor = 50);

-- Holds. A row stays after the hold has ended, as a record of what was held, by which user and for how long.
create table holds (
  id uuid primary key,
  scope text not null check (scope in ('queue', 'destination', 'sender_domain', 'api_key', 'webhook')),
  -- A name, or the id of a key or a webhook; the other is empty.
  value text collate "C" not null default '',
  value_id uuid not null default no_id(),
  -- Empty for a hold of the instance.
  workspace_id uuid not null,
  reason text not null,
  created_by_kind text not null,
  -- Null for the system.
  created_by_id uuid,
  created_by_name text not null,
  -- A hold of an operator can only be released by an operator, even if it belongs to a workspace.
  by_operator boolean not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  ended_by text check (ended_by in ('release', 'expiry')),
  -- After the release, held mail is sent at this rate until drained_at.
  resume_rate_per_minute integer check (resume_rate_per_minute > 0),
  -- The time up to which the rate has been spent.
  resumed_until timestamptz,
  drained_at timestamptz
) with (fillfactor = 50);
create unique index holds_twin on holds (scope, value, value_id, workspace_id) where ended_at is null;
-- Serves the poll of every worker, each second.
create index holds_in_force on holds (id)
  where ended_at is null or (resume_rate_per_minute is not null and drained_at is null);
create index holds_newest on holds (workspace_id, id);

-- The heartbeat of each worker, every few seconds, with its present rate of attempts per minute. Unlogged: after a
-- crash of the database the next heartbeat fills it.
create unlogged table delivery_workers (
  worker uuid primary key,
  noted_at timestamptz not null,
  stopped boolean not null,
  ended_per_minute integer not null,
  -- The connection of the heartbeat: it ends with the process, at once.
  backend integer not null,
  backend_started_at timestamptz not null
) with (fillfactor = 50);

-- ------ Webhooks

-- Endpoints that are told of events, with the state of their circuit.
create table webhooks (
  workspace_id uuid not null references workspaces (id),
  id uuid not null unique,
  url text not null,
  description text,
  -- Sandbox or live mail. Events without a mail go to live endpoints.
  mode text not null default 'live' check (mode in ('live', 'sandbox')),
  -- Types of events; null for all.
  events text[],
  status text not null default 'enabled' check (status in ('enabled', 'disabled')),
  status_reason text check (status_reason in ('manual', 'gone', 'failing')),
  secret bytea not null,
  secret_last4 text not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  created_at timestamptz not null,
  last_success_at timestamptz,
  -- The first failure since the last success, and the number of failures since.
  failing_since timestamptz,
  failure_count integer not null default 0,
  noticed_at timestamptz,
  -- No delivery is posted before this time.
  paused_until timestamptz,
  primary key (workspace_id, id)
) with (fillfactor = 50);

-- One for each event and endpoint. Partitioned by its own id, which begins with the time of the event.
create table webhook_deliveries (
  workspace_id uuid not null,
  id uuid not null,
  webhook_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  state text not null check (state in ('pending', 'delivered', 'failed')),
  attempt_count integer not null default 0,
  next_attempt_at timestamptz not null,
  lease uuid,
  lease_until timestamptz,
  created_at timestamptz not null,
  last_attempt_at timestamptz,
  -- The duration of the last post, to its response or its failure.
  duration_ms integer,
  finished_at timestamptz,
  response_status integer,
  response_body text,
  error text,
  -- The body of a test delivery, which has no event; every other body is rendered from its event.
  sample text,
  primary key (id, workspace_id)
) partition by range (id);
-- Serves the claim: open deliveries of an endpoint, by the time they are due.
create index webhook_deliveries_open on webhook_deliveries (webhook_id, next_attempt_at) where state = 'pending';
-- Serves the list of an endpoint, newest first.
create index webhook_deliveries_newest on webhook_deliveries (uuid_hash(webhook_id), id);

-- Failed attempts of deliveries, with request and answer; a successful one is in the row of its delivery, which moves
-- here when the delivery is replayed. The body of the request is not kept: it is rendered from its event.
create table webhook_attempts (
  workspace_id uuid not null,
  delivery_id uuid not null,
  number integer not null,
  -- When it ended.
  at timestamptz not null,
  duration_ms integer,
  request_headers text,
  response_status integer,
  response_headers text,
  response_body text,
  error text,
  primary key (delivery_id, at, number, workspace_id)
) partition by range (delivery_id);

-- The endpoint leases, so that one worker at a time posts to an endpoint. The rows of deliveries say what is owed; a
-- job only tells a worker to poll, and this row when the next job fires.
create table endpoint_leases (
  webhook_id uuid primary key references webhooks (id) on delete cascade,
  holder uuid,
  held_until timestamptz,
  -- A job is scheduled for this time, if it is in the future.
  next_look_at timestamptz
) with (fillfactor = 50);

-- The id of the delivery of an event to an endpoint, derived from both: creating it again conflicts.
create function webhook_delivery_id(event_id uuid, webhook_id uuid) returns uuid
  language sql immutable strict parallel safe as $$
  select derived_id('whd', event_id, event_id::text || webhook_id::text)
$$;

-- Whether a mail was sent by a sandbox key, in a workspace that has or had one. The planner does not inline this
-- function: a plan over the partitions of messages would otherwise be set up for every event of other workspaces too.
create function is_sandbox_mail(of_workspace uuid, mail_id uuid) returns boolean language plpgsql stable as $$
begin
  return exists (select from messages m where m.workspace_id = of_workspace and m.id = mail_id and m.mode = 'sandbox');
end $$;

-- Creates the deliveries of an event in the commit that records it: an event that is rolled back has none, one that
-- commits late has late ones, and no statement can leave them out. Without a subscribed endpoint this costs one lookup
-- in webhooks for each event; otherwise one job for each endpoint wakes a worker. call_for_webhooks is created with
-- the queue, which is installed after the migrations.
create function owe_events() returns trigger language plpgsql as $$
declare
  called jsonb[];
begin
  with owed as (
    insert into webhook_deliveries (workspace_id, id, webhook_id, event_id, event_type, state, next_attempt_at, created_at)
    select e.workspace_id, webhook_delivery_id(e.id, w.id), w.id, e.id, e.type, 'pending', clock_now(), clock_now()
    from recorded e
    cross join lateral (
      select x.id from webhooks x
      where x.workspace_id = e.workspace_id and x.status = 'enabled' and (x.events is null or e.type = any (x.events))
        and (x.mode = 'sandbox') = (
          e.message_id is not null
          and exists (select from api_keys k where k.workspace_id = e.workspace_id and k.mode = 'sandbox')
          and is_sandbox_mail(e.workspace_id, e.message_id)
        )
      offset 0
    ) w
    returning workspace_id, webhook_id
  )
  select array_agg(jsonb_build_object('workspace_id', c.workspace_id, 'webhook_id', c.webhook_id)) into called
  from (select distinct workspace_id, webhook_id from owed) c;
  if called is not null then
    perform call_for_webhooks(called);
  end if;
  return null;
end $$;
create trigger owe_events after insert on events referencing new table as recorded
  for each statement execute function owe_events();

-- ------ Queues

-- Settings of operators; a queue without a row has the catalogue's defaults.
create table queue_settings (
  queue text collate "C" primary key,
  -- The number of its jobs that each worker runs concurrently.
  concurrency integer not null check (concurrency between 1 and 1000),
  changed_at timestamptz not null
);

-- The job counts of each queue at a worker's last poll, so that readers need not count.
create table queue_measures (
  queue text collate "C" primary key,
  ready integer not null,
  deferred integer not null,
  active integer not null,
  dead integer not null,
  parked integer not null,
  oldest_ready_seconds double precision,
  measured_at timestamptz not null
) with (fillfactor = 50);

-- One row for a queue and a minute: the work of all workers, and the job counts at its end.
create table queue_minutes (
  queue text collate "C" not null,
  minute timestamptz not null,
  finished integer not null default 0,
  failed integer not null default 0,
  -- Histograms of wait and run times: each bin is 1.5 times as wide as the one before.
  wait_bins integer[] not null default '{}',
  run_bins integer[] not null default '{}',
  ready integer,
  deferred integer,
  active integer,
  dead integer,
  parked integer,
  oldest_ready_seconds double precision,
  measured_at timestamptz,
  primary key (queue, minute)
) with (fillfactor = 70);
-- Serves the pruning.
create index queue_minutes_minute on queue_minutes (minute);

create function sum_bins(a integer[], b integer[]) returns integer[] language sql immutable parallel safe as $$
  select coalesce(array_agg(coalesce(x, 0) + coalesce(y, 0) order by n), '{}')
  from rows from (unnest(a), unnest(b)) with ordinality as slots (x, y, n)
$$;

-- Data of worker processes that pg-boss lacks, under pg-boss's instance ids.
create table workers (
  id uuid primary key,
  version text not null,
  started_at timestamptz not null
);

-- The jobs of each queue that each worker has fetched, updated every few seconds.
create table worker_queues (
  worker_id uuid not null,
  queue text collate "C" not null,
  active integer not null,
  concurrency integer not null,
  -- The jobs themselves, if they are few.
  job_ids uuid[] not null,
  noted_at timestamptz not null,
  primary key (worker_id, queue)
) with (fillfactor = 50);

-- Failed runs of jobs, and successful ones after a failure.
create table job_attempts (
  job_id uuid not null,
  number integer not null,
  queue text collate "C" not null,
  started_at timestamptz not null,
  duration_ms double precision not null,
  error_name text,
  error_message text,
  worker_id uuid,
  primary key (job_id, number)
);
-- Serves the pruning.
create index job_attempts_started on job_attempts (started_at);

-- ------ Statistics

-- The mailbox providers of well-known domains. Other domains are counted together.
create table provider_domains (
  domain text collate "C" primary key,
  provider text collate "C" not null
);
insert into provider_domains (domain, provider)
select domain, provider from (values
  ('google', '{gmail.com,googlemail.com}'::text[]),
  ('microsoft', '{outlook.com,outlook.de,outlook.fr,outlook.es,outlook.it,outlook.jp,outlook.com.br,hotmail.com,hotmail.co.uk,hotmail.de,hotmail.fr,hotmail.es,hotmail.it,hotmail.com.br,hotmail.nl,live.com,live.co.uk,live.de,live.fr,live.nl,live.it,live.com.au,msn.com,passport.com}'),
  ('yahoo', '{yahoo.com,yahoo.co.uk,yahoo.de,yahoo.fr,yahoo.es,yahoo.it,yahoo.ca,yahoo.co.in,yahoo.in,yahoo.com.br,yahoo.com.au,yahoo.com.mx,yahoo.com.ar,yahoo.com.ph,yahoo.com.sg,yahoo.com.tw,yahoo.com.hk,ymail.com,rocketmail.com,aol.com,aol.co.uk,aol.de,aim.com,verizon.net,att.net,sbcglobal.net,bellsouth.net}'),
  ('apple', '{icloud.com,me.com,mac.com}'),
  ('proton', '{proton.me,protonmail.com,protonmail.ch,pm.me}'),
  ('fastmail', '{fastmail.com,fastmail.fm}'),
  ('zoho', '{zoho.com,zohomail.com,zoho.eu}'),
  ('gmx', '{gmx.com,gmx.de,gmx.net,gmx.at,gmx.ch,gmx.fr,gmx.us,web.de,mail.com,email.com,1und1.de,online.de}'),
  ('t-online', '{t-online.de,magenta.de}'),
  ('freenet', '{freenet.de}'),
  ('orange', '{orange.fr,wanadoo.fr}'),
  ('free', '{free.fr}'),
  ('laposte', '{laposte.net}'),
  ('sfr', '{sfr.fr,neuf.fr,cegetel.net}'),
  ('libero', '{libero.it,virgilio.it,iol.it,inwind.it}'),
  ('comcast', '{comcast.net}'),
  ('charter', '{charter.net,spectrum.net,roadrunner.com,rr.com}'),
  ('cox', '{cox.net}'),
  ('bt', '{btinternet.com,btopenworld.com}'),
  ('sky', '{sky.com}'),
  ('virgin', '{virginmedia.com,ntlworld.com,blueyonder.co.uk}'),
  ('talktalk', '{talktalk.net,tiscali.co.uk}'),
  ('yandex', '{yandex.ru,yandex.com,ya.ru,yandex.by,yandex.kz,yandex.ua,narod.ru}'),
  ('mail.ru', '{mail.ru,inbox.ru,list.ru,bk.ru,internet.ru}'),
  ('rambler', '{rambler.ru,lenta.ru,autorambler.ru,ro.ru}'),
  ('seznam', '{seznam.cz,email.cz,post.cz}'),
  ('onet', '{onet.pl,op.pl,vp.pl,onet.eu,poczta.onet.pl}'),
  ('wp', '{wp.pl,o2.pl,tlen.pl}'),
  ('interia', '{interia.pl,interia.eu,poczta.fm}'),
  ('uol', '{uol.com.br,bol.com.br}'),
  ('terra', '{terra.com.br,terra.com}'),
  ('tencent', '{qq.com,foxmail.com,vip.qq.com}'),
  ('netease', '{163.com,126.com,yeah.net,188.com}'),
  ('sina', '{sina.com,sina.cn,vip.sina.com}'),
  ('naver', '{naver.com}'),
  ('daum', '{daum.net,hanmail.net,kakao.com}'),
  ('docomo', '{docomo.ne.jp}'),
  ('au', '{ezweb.ne.jp,au.com}'),
  ('softbank', '{softbank.ne.jp,i.softbank.jp}'),
  ('rediff', '{rediffmail.com}'),
  ('bluewin', '{bluewin.ch,hispeed.ch}'),
  ('telenet', '{telenet.be}'),
  ('proximus', '{skynet.be,proximus.be}'),
  ('kpn', '{kpnmail.nl,planet.nl,hetnet.nl,xs4all.nl}'),
  ('ziggo', '{ziggo.nl,home.nl,upcmail.nl}'),
  ('telia', '{telia.com}'),
  ('rogers', '{rogers.com}'),
  ('shaw', '{shaw.ca}'),
  ('bell', '{bell.net,sympatico.ca}'),
  ('telstra', '{bigpond.com,bigpond.net.au}'),
  ('optus', '{optusnet.com.au}')
) as known (provider, domains) cross join lateral unnest(domains) as d (domain);

-- The progress of a roll-up. Minutes before final_until are final; those between the two have been computed once and
-- are computed again after the time by which late commits have arrived.
create table roll_ups (
  name text collate "C" primary key,
  early_until timestamptz not null,
  final_until timestamptz not null
);
insert into roll_ups (name, early_until, final_until)
select name, date_trunc('minute', clock_now()), date_trunc('minute', clock_now())
from unnest('{stats,failures}'::text[]) as n (name);

-- Outcomes of a minute, counted in recipients. An empty workspace means the whole instance. Of each dimension the
-- busiest keys of the minute have their own rows, the others share the row with the empty key. The two histograms
-- are objects from a bin to a count; the bins are those of stats/mail-times.ts.
create table stat_minutes (
  workspace_id uuid not null,
  dimension text collate "C" not null check (dimension in ('none', 'domain', 'tag', 'provider', 'destination', 'api_key')),
  at timestamptz not null,
  key text collate "C" not null,
  accepted integer not null,
  delivered integer not null,
  bounced integer not null,
  deferred integer not null,
  failed integer not null,
  complained integer not null,
  suppressed integer not null,
  canceled integer not null,
  first_attempt jsonb,
  delivery jsonb,
  primary key (workspace_id, dimension, at, key)
);
-- Serves recomputation and pruning.
create index stat_minutes_at on stat_minutes (at);
create table stat_hours (like stat_minutes including all);
create table stat_days (like stat_minutes including all);

-- The time of the last delivery per kind of mail, shown beside a backlog.
create table last_successes (
  dimension text collate "C" not null,
  key text collate "C" not null,
  workspace_id uuid not null,
  at timestamptz not null,
  primary key (dimension, key, workspace_id)
);
create index last_successes_at on last_successes (at);

-- Groups of similar failures, by the signature of failures/signature.ts.
create table failure_groups (
  workspace_id uuid not null,
  id text collate "C" not null,
  kind text collate "C" not null check (kind in ('smtp', 'webhook', 'job', 'dns')),
  signature text not null,
  code integer,
  enhanced_code text,
  sample text not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (workspace_id, id)
);
create index failure_groups_last_seen on failure_groups (last_seen_at);

-- Counts per minute and destination. The destinations of a group with most failures have their own rows, the others
-- share the row with the empty destination.
create table failure_minutes (
  workspace_id uuid not null,
  kind text collate "C" not null,
  at timestamptz not null,
  group_id text collate "C" not null,
  destination text collate "C" not null,
  count integer not null,
  primary key (workspace_id, kind, at, group_id, destination)
);
create index failure_minutes_at on failure_minutes (at);
create table failure_hours (like failure_minutes including all);

-- Failed webhook deliveries, by the time of their last attempt. One that succeeds at first is never in it.
create index webhook_deliveries_failing on webhook_deliveries (last_attempt_at)
  where last_attempt_at is not null and (response_status is null or response_status < 200 or response_status > 299);

-- Open recipients as last counted by a job. Unlogged: after a crash they are counted again.
create unlogged table backlog_rows (
  workspace_id uuid not null,
  dimension text collate "C" not null,
  key text collate "C" not null,
  total integer not null,
  counts integer[] not null,
  oldest_at timestamptz not null,
  -- The newest message with a reply from the destination, and the oldest that waits.
  answered_message_id uuid,
  oldest_message_id uuid,
  primary key (workspace_id, dimension, key)
);
-- Destinations are counted from recipients alone; the other kinds need messages too, which is slower and less frequent.
create unlogged table backlog_snapshots (
  part text collate "C" primary key check (part in ('recipients', 'messages')),
  measured_at timestamptz,
  -- The process that finds this in the past counts next, and advances it.
  next_at timestamptz not null
);

-- ------ Bulk operations

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

-- ------ GraphQL

-- The GraphQL cost of each key, in points: a leaky bucket. Unlogged, as rate_windows is: a crash of the database loses
-- about a minute.
create unlogged table query_budgets (
  key_id uuid primary key,
  level double precision not null,
  -- Whether the last request was allowed.
  taken boolean not null,
  at timestamptz not null
) with (fillfactor = 50);

-- Open event streams. Each process renews its own; a row that is not renewed belongs to a process that has died.
create unlogged table query_streams (
  key_id uuid not null,
  id uuid not null,
  until timestamptz not null,
  primary key (key_id, id)
);

-- ------ Audit log

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

-- ------ Processes and alarms

-- The heartbeat of each process, whatever its roles. Unlogged: after a crash of the database the next one fills it.
create unlogged table processes (
  id uuid primary key,
  roles text[] not null,
  host text not null,
  noted_at timestamptz not null,
  -- How far the clock of the process is ahead of that of the database.
  clock_skew_seconds double precision not null,
  -- Transactions that waited for a connection.
  pool_waiting integer not null
) with (fillfactor = 50);

-- Which process reads the numbers of the instance, and until when others leave that to it. Unlogged, as above.
create unlogged table instance_watch (
  only_row boolean primary key default true check (only_row),
  holder uuid not null,
  until timestamptz not null
) with (fillfactor = 50);

-- Where notices of alarms go; an empty workspace means those of the instance.
create table alarm_settings (
  workspace_id uuid primary key,
  emails text[] not null default '{}',
  webhook_url text,
  -- The sender of notices; null for an address of the first verified domain.
  from_address text,
  -- Minutes of a day, UTC, between which no notice goes out; null where there are none.
  quiet_from integer check (quiet_from between 0 and 1439),
  quiet_until integer check (quiet_until between 0 and 1439),
  check ((quiet_from is null) = (quiet_until is null))
);

-- A condition that was seen is pending until it has lasted; then it is an active alarm, which ends once the condition
-- has been gone for a while.
create table alarms (
  id uuid primary key,
  workspace_id uuid not null,
  rule text collate "C" not null,
  -- What it is about, such as a queue; empty where the rule says it.
  subject text collate "C" not null,
  status text not null check (status in ('pending', 'active', 'ended')),
  detail text not null,
  value double precision not null,
  page text not null,
  seen_since timestamptz not null,
  -- Since when the condition is gone.
  clear_since timestamptz,
  started_at timestamptz,
  ended_at timestamptz,
  acknowledged_at timestamptz,
  acknowledged_by text,
  -- Notices that have not gone out yet, and when the last one became due.
  mail_due text check (mail_due in ('start', 'reminder', 'end')),
  webhook_due text check (webhook_due in ('start', 'reminder', 'end')),
  told_at timestamptz
);
-- Finds the open alarm of a condition, and serves the turn of the judge.
create unique index alarms_open on alarms (workspace_id, rule, subject) where status <> 'ended';
-- Serves the list, newest first.
create index alarms_newest on alarms (workspace_id, id) where status <> 'pending';
create index alarms_due on alarms (id) where mail_due is not null or webhook_due is not null;

-- When the last mail about alarms was sent, so that a storm becomes one.
create table alarm_mails (
  workspace_id uuid primary key,
  sent_at timestamptz not null
);

-- ------ Request log

-- The log of refused and failed requests, in unlogged partitions by day over the id, which begins with the time: losing
-- it in a crash is allowed, and an answer never waits for it. An empty workspace: no key or session was known.
create table requests (
  workspace_id uuid not null,
  id uuid not null,
  api text not null,
  method text not null,
  path text not null,
  status integer not null,
  code text not null,
  reason text collate "C" not null,
  message text not null,
  api_key_id uuid,
  user_id uuid,
  duration_ms integer not null,
  -- JSON: the faults, and what is left of the body once it is redacted.
  details text not null,
  body text,
  primary key (workspace_id, id)
) partition by range (id);

-- As the owner, as ensure_partitions: makes the partitions of a day before to two days ahead of a time, and drops those
-- that ended so many days ago.
create function tend_request_days(around timestamptz, kept_days integer) returns void language plpgsql
  security definer set lock_timeout = '2s' set timezone = 'UTC' set search_path = public, pg_temp as $$
declare
  day timestamptz;
  child text;
begin
  perform pg_advisory_xact_lock(hashtextextended('partitions of requests', 0));
  for day in select date_trunc('day', around) + make_interval(days => ahead) from generate_series(-1, 2) as ahead loop
    child := 'requests_' || to_char(day, 'YYYYMMDD');
    if to_regclass(child) is null then
      execute format('create unlogged table %I partition of requests for values from (%L) to (%L)',
        child, id_floor(day), id_floor(day + interval '1 day'));
    end if;
  end loop;
  for child in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'requests'::regclass
      and to_date(right(c.relname, 8), 'YYYYMMDD') < (around - make_interval(days => kept_days + 1))::date
  loop
    execute format('drop table %I', child);
  end loop;
end $$;

-- Links to the source of a mail or to one of its attachments, for a browser. Each is used once.
create table content_links (
  token_hash bytea primary key,
  workspace_id uuid not null,
  message_id uuid not null,
  -- The place of an attachment, from 0; null for the source.
  attachment integer,
  expires_at timestamptz not null
);
create index content_links_expiry on content_links (expires_at);

-- ------ Roles

-- What a role needs that runs the application and owns nothing: the data, and the functions that act as the owner.
-- Called by the owner once; tables that later migrations make are granted as they are made.
create function grant_application(role_name text) returns void language plpgsql as $$
declare
  place text;
begin
  foreach place in array '{public,pgboss}'::text[] loop
    if to_regnamespace(place) is not null then
      execute format('grant usage on schema %I to %I', place, role_name);
      execute format('grant select, insert, update, delete, truncate on all tables in schema %I to %I', place, role_name);
      execute format('grant usage, select on all sequences in schema %I to %I', place, role_name);
      execute format('grant execute on all functions in schema %I to %I', place, role_name);
      execute format('alter default privileges in schema %I grant select, insert, update, delete, truncate on tables to %I', place, role_name);
      execute format('alter default privileges in schema %I grant usage, select on sequences to %I', place, role_name);
      execute format('alter default privileges in schema %I grant execute on functions to %I', place, role_name);
    end if;
  end loop;
end $$;

-- ------ The first partitions

select ensure_all_partitions(now());
select tend_request_days(now(), 7);
