-- The release before can run on it: it knows none of these tables, and leaves them empty.

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
