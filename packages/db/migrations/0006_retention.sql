-- The release before can run on it: it calls none of this.

-- A statement that comes after a drop waits as long as the drop waits for the statements before it.
alter function drop_partition(text, text) set lock_timeout = '100ms';
alter function tend_request_days(timestamptz, integer) set lock_timeout = '100ms';

-- Where the period of a partition begins, by its name.
create function partition_start(parent text, period text, child text) returns timestamptz language sql stable as $$
  select to_date(substr(child, length(parent) + 2), case period when 'month' then 'YYYYMM' else 'YYYYMMDD' end)::timestamp
    at time zone 'UTC'
$$;

-- Drops a partition whose period ended before an id, and says whether it did. What is still needed moves into the
-- default partition first: the rows of mail that has an open recipient, and attempts that were made long after their
-- mail was accepted. Both are looked for before the lock is taken: mail that is closed stays so, and only open mail has
-- new attempts. A month with more open mail than can be moved at once waits. As the owner, as ensure_partitions.
create function drop_past(parent text, child text, before uuid) returns boolean language plpgsql
  security definer set lock_timeout = '100ms' set timezone = 'UTC' set search_path = public, pg_temp
  -- Rows that move are looked up by their keys, also where the planner knows nothing about the table yet.
  set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  most constant integer := 5000;
  period text := (select t.period from partitioned_tables t where t.parent = drop_past.parent);
  start timestamptz;
  high uuid;
  owner text := case parent when 'messages' then 'id' else 'message_id' end;
  late text := case parent when 'attempts' then 'id' when 'transcripts' then 'attempt_id' end;
  open_ids uuid[] := '{}';
  open_workspaces uuid[] := '{}';
  late_ids uuid[] := '{}';
  late_mail uuid[] := '{}';
  wanted text;
  columns text;
  moved integer := 0;
  other boolean;
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
  if not exists (
    select from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = parent::regclass and c.relname = child
  ) then
    -- Another process has dropped it.
    return true;
  end if;

  if parent not in ('events', 'captures') then
    select coalesce(array_agg(o.message_id), '{}'), coalesce(array_agg(o.workspace_id), '{}')
    into open_ids, open_workspaces
    from (
      select distinct r.message_id, r.workspace_id from recipients r
      where r.is_open and r.message_id >= id_floor(start) and r.message_id < high
      limit most + 1
    ) o;
  end if;
  if late is not null then
    execute format('select coalesce(array_agg(l.%1$I), ''{}''), coalesce(array_agg(l.message_id), ''{}'')
      from (select x.%1$I, x.message_id from %2$I x where x.%1$I >= $1 limit $2) l', late, child)
      using before, most + 1 into late_ids, late_mail;
  end if;
  if greatest(cardinality(open_ids), cardinality(late_ids)) > most then
    return false;
  end if;
  -- The rows to move, of the child as x.
  wanted := case
    when parent in ('events', 'captures') then null
    when parent = 'message_tags' then
      'from unnest($1, $2) o (message_id, workspace_id)
        join messages m on m.workspace_id = o.workspace_id and m.id = o.message_id
        cross join lateral unnest(m.tags) n (name)
        join tags t on t.workspace_id = m.workspace_id and t.name = n.name
        join %1$I x on x.tag_id = t.id and x.message_id = m.id'
    when late is null then
      'from unnest($1, $2) o (message_id, workspace_id)
        join %1$I x on x.workspace_id = o.workspace_id and x.%2$I = o.message_id'
    else
      'from (select message_id from unnest($1) a (message_id) union select unnest($4)) o
        join %1$I x on x.message_id = o.message_id and x.%3$I >= $5'
  end;
  -- Last month and last week are made again by ensure_partitions. Then they hold nothing but what had moved.
  if wanted is not null then
    execute format('select count(*) ' || wanted, child, owner, late)
      using open_ids, open_workspaces, late_ids, late_mail, before into moved;
  end if;
  if start >= (date_trunc(period, clock_now() at time zone 'UTC') - ('1 ' || period)::interval) at time zone 'UTC' then
    execute format('select count(*) > $1 from (select from %I limit $1 + 1) s', child) using moved into other;
    if not other then
      return false;
    end if;
  end if;

  execute format('lock table only %I in access exclusive mode', parent);
  execute format('alter table %I detach partition %I', parent, child);
  if wanted is not null and (cardinality(open_ids) > 0 or cardinality(late_ids) > 0) then
    select string_agg(quote_ident(attname), ', ' order by attnum) into columns from pg_attribute
    where attrelid = parent::regclass and attnum > 0 and not attisdropped and attgenerated = '';
    -- Into the default itself: the triggers of the parent have seen these rows.
    execute format('insert into %I (%s) select %s ' || format(wanted, child, owner, late),
      parent || '_default', columns, (
        select string_agg('x.' || quote_ident(attname), ', ' order by attnum) from pg_attribute
        where attrelid = parent::regclass and attnum > 0 and not attisdropped and attgenerated = ''))
      using open_ids, open_workspaces, late_ids, late_mail, before;
  end if;
  execute format('drop table %I', child);
  return true;
end $$;
