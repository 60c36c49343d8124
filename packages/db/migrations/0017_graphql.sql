-- New tables only: the release before runs on them.

-- What a key has asked of GraphQL, in points: a bucket that leaks at a steady rate and takes what fits. Unlogged, as
-- rate_windows is: a crash of the database forgives a minute.
create unlogged table query_budgets (
  key_id text collate "C" primary key,
  level double precision not null,
  -- Whether the last request fitted.
  taken boolean not null,
  at timestamptz not null
) with (fillfactor = 50);

-- Streams of events that are open. Each process renews its own; what nobody renews has ended with its process.
create unlogged table query_streams (
  key_id text collate "C" not null,
  id uuid not null,
  until timestamptz not null,
  primary key (key_id, id)
);
