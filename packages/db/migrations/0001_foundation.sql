-- First release: nothing older runs on it.

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
