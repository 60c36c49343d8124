-- First release: nothing older runs on it.

-- The one clock that decides what is due, expired or in a window. A test database replaces it.
create function clock_now() returns timestamptz language sql stable as $$ select now() $$;

-- The smallest id of a kind at a time: the prefix and ten base32 characters that hold 48 bits of
-- milliseconds, as the application writes them. Partition bounds are made of these.
create function id_floor(prefix text, at timestamptz) returns text language plpgsql immutable strict as $$
declare
  rest bigint := floor(extract(epoch from at) * 1000);
  body text := '';
begin
  for position in 1..10 loop
    body := substr('0123456789abcdefghjkmnpqrstvwxyz', (rest % 32)::int + 1, 1) || body;
    rest := rest / 32;
  end loop;
  return prefix || body;
end $$;

-- Makes one monthly partition and moves into it what landed in the default partition meanwhile. Postgres
-- refuses a partition for rows that the default holds, so the table is filled first and attached then.
-- The lock on the parent also makes waiting statements replan, so that they see the partition. A dump may lock
-- the parent for hours and every statement would queue behind this lock, so its timeout is short: the rows are
-- as safe in the default, and the next call tries again.
create function add_partition(parent text, prefix text, month timestamptz) returns void language plpgsql
  set lock_timeout = '2s' set timezone = 'UTC' as $$
declare
  child text := parent || '_' || to_char(month, 'YYYYMM');
  low text := id_floor(prefix, month);
  high text := id_floor(prefix, month + interval '1 month');
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

-- The months from last month to two months ahead of a time that have no partition yet. It reads pg_class and not
-- to_regclass, whose cache may lack what another session has just committed.
create function missing_months(parent text, around timestamptz) returns setof timestamptz language sql stable as $$
  select wanted.month at time zone 'UTC'
  from (
    select date_trunc('month', around at time zone 'UTC') + make_interval(months => ahead) as month
    from generate_series(-1, 2) as ahead
  ) as wanted
  where not exists (
    select from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = parent::regclass and c.relname = parent || '_' || to_char(wanted.month, 'YYYYMM')
  )
$$;

-- Makes the monthly partitions of one table. Rows whose id lies outside land in the default partition, so a
-- wrong clock costs order and never a mail.
create function ensure_partitions(parent text, prefix text, around timestamptz) returns void language plpgsql as $$
declare
  month timestamptz;
begin
  if to_regclass(parent || '_default') is null then
    execute format('create table %I partition of %I default', parent || '_default', parent);
  end if;
  if not exists (select from missing_months(parent, around)) then
    return;
  end if;
  -- Processes that start together arrive here together: after the wait for the lock, check again.
  perform pg_advisory_xact_lock(hashtextextended('partitions of ' || parent, 0));
  for month in select * from missing_months(parent, around) loop
    perform add_partition(parent, prefix, month);
  end loop;
end $$;
