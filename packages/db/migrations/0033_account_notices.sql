-- The release before can run on it: it stores no names and no notices.

alter table users add column name text;

-- Security events that people are notified of: by email, and on their account page.
create table account_notices (
  id integer generated always as identity primary key,
  user_id uuid not null references users (id) on delete cascade,
  kind text not null,
  address text,
  user_agent text,
  created_at timestamptz not null,
  -- Null until the worker has tried to email it.
  outcome text check (outcome in ('emailed', 'captured', 'unsent'))
);
create index account_notices_of_user on account_notices (user_id, id);
