-- The release before can run on it: it knows none of these tables, and leaves them empty.

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
