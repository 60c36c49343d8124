-- First release: nothing older runs on it.

-- In the order of the aggregate: a message's status is the least of its recipients' states, open ones first.
create type delivery_state as enum (
  'scheduled', 'queued', 'deferred', 'sending',
  'failed', 'bounced', 'complained', 'suppressed', 'canceled', 'delivered'
);
create type recipient_kind as enum ('to', 'cc', 'bcc');

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

create table message_tags (
  workspace_id uuid not null,
  tag text collate "C" not null,
  message_id uuid not null,
  primary key (workspace_id, tag, message_id)
) partition by range (message_id);

-- Keys of a message's rows begin with its id, which grows with time: new rows of all workspaces land on the same few
-- pages at the end.

-- Written once, never updated: mutable columns are on rows without a body.
create table bodies (
  workspace_id uuid not null,
  message_id uuid not null,
  html text,
  text text,
  headers text not null,
  attachments text not null,
  primary key (message_id, workspace_id)
) partition by range (message_id);

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
  transcript text,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  primary key (message_id, id, workspace_id)
) partition by range (message_id);

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

create view partitioned_tables (parent, period) as values
  ('messages', 'month'), ('message_tags', 'month'), ('bodies', 'month'), ('recipients', 'month'), ('attempts', 'month'),
  ('events', 'month');

create function ensure_all_partitions(around timestamptz) returns void language plpgsql as $$
begin
  perform ensure_partitions(parent, period, around) from partitioned_tables;
end $$;
select ensure_all_partitions(now());

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

-- The normal form of an address on the suppression list. RFC 5321 allows a case-sensitive local part, but no server
-- in use has one: addresses are compared in lower case.
create function suppression_key(email text) returns text language sql immutable parallel safe as $$
  select lower(email collate "C")
$$;

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
