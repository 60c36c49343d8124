-- The release before can run on it: it calls none of this.

-- A statement that comes after a drop waits as long as the drop waits for the statements before it.
alter function drop_partition(text, text) set lock_timeout = '100ms';
alter function tend_request_days(timestamptz, integer) set lock_timeout = '100ms';

-- Where the period of a partition begins, by its name.
create function partition_start(parent text, period text, child text) returns timestamptz language sql stable as $$
  select to_date(substr(child, length(parent) + 2), case period when 'month' then 'YYYYMM' else 'YYYYMMDD' end)::timestamp
    at time zone 'UTC'
$$;

-- Drops a partition whose period ended before an id: 'dropped', or why it stays, and how much of that there is. What is
-- still needed moves into the default partition first: the rows of mail that has an open recipient, mail that was closed
-- late and may still bounce, and attempts that were made long after their mail was accepted. All of it is looked for
-- before the lock is taken: mail that is closed stays so, and only open mail has new attempts. Statements wait while it
-- is moved, so that more than can be moved at once waits instead. As the owner, as ensure_partitions.
create function drop_past(parent text, child text, before uuid, out outcome text, out amount bigint) language plpgsql
  security definer set lock_timeout = '100ms' set timezone = 'UTC' set search_path = public, pg_temp
  -- Rows that move are looked up by their keys, also where the planner knows nothing about the table yet.
  set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  most constant integer := 5000;
  most_bytes constant bigint := 32 * 1024 * 1024;
  slice constant integer := 250;
  period text := (select t.period from partitioned_tables t where t.parent = drop_past.parent);
  start timestamptz;
  high uuid;
  owner text := case parent when 'messages' then 'id' else 'message_id' end;
  late text := case parent when 'attempts' then 'id' when 'transcripts' then 'attempt_id' end;
  -- Mail that had an event from here on may have rows that are needed.
  recent uuid;
  ids uuid[] := '{}';
  workspaces uuid[] := '{}';
  wanted text;
  columns text;
  sources text;
  sizes text;
  moved integer := 0;
  bytes bigint := 0;
  other boolean;
  locked_at timestamptz;
begin
  if parent not in ('messages', 'message_tags', 'bodies', 'recipients', 'attempts', 'transcripts', 'events', 'captures') then
    raise exception 'no partition of % may be dropped', parent;
  end if;
  if child !~ ('^' || parent || '_[0-9]+$') then
    raise exception '% is no partition of a time', child;
  end if;
  start := partition_start(parent, period, child);
  high := id_floor(start + ('1 ' || period)::interval);
  if high > before or before > id_floor(clock_now() - interval '23 hours') then
    raise exception '% is not past', child;
  end if;
  -- One drop at a time: this reads recipients while it holds the lock of another table.
  perform pg_advisory_xact_lock(hashtextextended('drop_past', 0));
  outcome := 'dropped';
  amount := 0;
  if not exists (
    select from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = parent::regclass and c.relname = child
  ) then
    -- Another process has dropped it.
    return;
  end if;

  if parent not in ('events', 'captures') then
    recent := case
      -- As long as a closed mail is kept among the rows of the default partition.
      when parent in ('messages', 'recipients') then greatest(high, id_floor(clock_now() - interval '5 days'))
      -- Attempts have no index on their time, and what came of them is an event.
      when parent = 'attempts' then before
    end;
    select coalesce(array_agg(o.message_id), '{}'), coalesce(array_agg(o.workspace_id), '{}') into ids, workspaces
    from (
      select r.message_id, r.workspace_id from recipients r
      where r.is_open and r.message_id >= id_floor(start) and r.message_id < high
      union
      select e.message_id, e.workspace_id from events e
      where e.message_id >= id_floor(start) and e.message_id < high and e.id >= recent
      limit most + 1
    ) o;
    -- The events of a week are more than its transcripts.
    if parent = 'transcripts' and cardinality(ids) <= most then
      execute format('select coalesce(array_agg(o.message_id), ''{}''), coalesce(array_agg(o.workspace_id), ''{}'')
        from (
          select * from unnest($1, $2) a (message_id, workspace_id)
          union select x.message_id, x.workspace_id from %I x where x.attempt_id >= $3
          limit $4
        ) o', child)
        using ids, workspaces, before, most + 1 into ids, workspaces;
    end if;
    if cardinality(ids) > most then
      outcome := 'mails';
      amount := cardinality(ids);
      return;
    end if;
    select
      string_agg(quote_ident(attname), ', ' order by attnum) filter (where attgenerated = ''),
      string_agg('x.' || quote_ident(attname), ', ' order by attnum) filter (where attgenerated = ''),
      -- As stored, which reads no value that is apart from its row.
      string_agg(format('coalesce(pg_column_size(x.%I), 0)', attname), ' + ')
    into columns, sources, sizes from pg_attribute
    where attrelid = parent::regclass and attnum > 0 and not attisdropped;
    -- The rows to move, of the child as x.
    wanted := format(case
      when parent = 'message_tags' then
        'from unnest($1, $2) o (message_id, workspace_id)
          join messages m on m.workspace_id = o.workspace_id and m.id = o.message_id
          cross join lateral unnest(m.tags) n (name)
          join tags t on t.workspace_id = m.workspace_id and t.name = n.name
          join %1$I x on x.tag_id = t.id and x.message_id = m.id'
      else
        'from unnest($1, $2) o (message_id, workspace_id)
          join %1$I x on x.workspace_id = o.workspace_id and x.%2$I = o.message_id'
      end || case when late is null then '' else ' and x.%3$I >= $3' end, child, owner, late);
    execute 'select count(*), coalesce(sum(' || sizes || '), 0) ' || wanted
      using ids, workspaces, before into moved, bytes;
    if bytes > most_bytes then
      outcome := 'bytes';
      amount := bytes;
      return;
    end if;
  end if;
  -- Last month and last week are made again by ensure_partitions. Then they hold nothing but what had moved.
  if start >= (date_trunc(period, clock_now() at time zone 'UTC') - ('1 ' || period)::interval) at time zone 'UTC' then
    execute format('select count(*) > $1 from (select from %I limit $1 + 1) s', child) using moved into other;
    if not other then
      outcome := 'current';
      amount := moved;
      return;
    end if;
  end if;

  execute format('lock table only %I in access exclusive mode', parent);
  -- Not of clock_now(), which may stand still. A timeout for statements counts from the begin of this one.
  locked_at := clock_timestamp();
  execute format('alter table %I detach partition %I', parent, child);
  if moved > 0 then
    for place in 1 .. cardinality(ids) by slice loop
      -- Into the default itself: the triggers of the parent have seen these rows.
      execute format('insert into %I (%s) select %s %s', parent || '_default', columns, sources, wanted)
        using ids[place : place + slice - 1], workspaces[place : place + slice - 1], before;
      if clock_timestamp() > locked_at + interval '3 seconds' then
        raise exception 'moving what is needed of % took too long', child using errcode = 'query_canceled';
      end if;
    end loop;
  end if;
  execute format('drop table %I', child);
  amount := moved;
end $$;
