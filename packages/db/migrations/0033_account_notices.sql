-- The release before can run on it: it stores no names and no notices.

alter table users add column name text;

-- When a person last signed in. The first sign-in of an account is no news to its owner. A table of its own, because
-- sign-ins of one person at the same moment share a lock on the user.
create table last_sign_ins (
  user_id uuid primary key references users (id) on delete cascade,
  at timestamptz not null
);
insert into last_sign_ins (user_id, at) select user_id, max(last_used_at) from devices group by user_id;

-- What people are told about their own account: by email, and on their account page.
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
