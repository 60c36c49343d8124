-- New tables only: the release before runs on it.

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

-- As the owner, as ensure_partitions: makes the partitions of a day before to two days ahead of a time, and drops those that ended so many days ago.
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
select tend_request_days(now(), 7);

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
