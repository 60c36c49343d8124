-- New tables only: the release before runs on them.

-- The GraphQL cost of each key, in points: a leaky bucket. Unlogged, as rate_windows is: a crash of the database loses
-- about a minute.
create unlogged table query_budgets (
  key_id uuid primary key,
  level double precision not null,
  -- Whether the last request was allowed.
  taken boolean not null,
  at timestamptz not null
) with (fillfactor = 50);

-- Open event streams. Each process renews its own; a row that is not renewed belongs to a process that has died.
create unlogged table query_streams (
  key_id uuid not null,
  id uuid not null,
  until timestamptz not null,
  primary key (key_id, id)
);
