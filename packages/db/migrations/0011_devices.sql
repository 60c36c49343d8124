-- The release before can run on it: it neither writes nor reads devices.

-- Browsers in which a person has signed in, by the hash of a cookie. Wrong passwords from elsewhere do not lock them.
create table devices (
  token_hash bytea primary key,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz not null,
  last_used_at timestamptz not null
);
create index devices_of_user on devices (user_id, last_used_at);
