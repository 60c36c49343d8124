-- First release: nothing older runs on it.

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
create index api_keys_sandbox on api_keys (workspace_id) where mode = 'sandbox';

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

-- Appended to the present view, because every table that grows with mail adds itself to it.
do $$
begin
  execute 'create or replace view partitioned_tables (parent, period) as '
    || rtrim(pg_get_viewdef('partitioned_tables'::regclass), ';')
    || ' union all values (''webhook_deliveries'', ''month''), (''webhook_attempts'', ''month'')';
  perform ensure_partitions('webhook_deliveries', 'month', now());
  perform ensure_partitions('webhook_attempts', 'month', now());
end $$;
