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

-- Makes the monthly partitions of one table from last month to two months ahead of a time. Rows whose
-- id lies outside land in the default partition, so a wrong clock costs order and never a mail.
create function ensure_partitions(parent text, prefix text, around timestamptz) returns void language plpgsql as $$
declare
  month timestamptz;
  child text;
begin
  execute format('create table if not exists %I partition of %I default', parent || '_default', parent);
  for offset_months in -1..2 loop
    month := date_trunc('month', around, 'UTC') + make_interval(months => offset_months);
    child := parent || '_' || to_char(month at time zone 'UTC', 'YYYYMM');
    if to_regclass(child) is null then
      execute format('create table %I partition of %I for values from (%L) to (%L)',
        child, parent, id_floor(prefix, month), id_floor(prefix, month + interval '1 month'));
    end if;
  end loop;
end $$;
