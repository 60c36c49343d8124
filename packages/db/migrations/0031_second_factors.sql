-- The release before can run on it, but signs people in without asking for their code.

-- The authenticator app of a person.
create table totp_factors (
  user_id uuid primary key references users (id) on delete cascade,
  -- Encrypted under SECRET_KEY.
  secret bytea not null,
  active_at timestamptz not null,
  -- The 30-second step of the last code that was accepted. Earlier codes and this one are rejected.
  last_step bigint not null
);

-- The secret of an app that is being set up. It becomes the person's factor once they have entered a code of it.
create table totp_candidates (
  user_id uuid primary key references users (id) on delete cascade,
  -- Encrypted under SECRET_KEY.
  secret bytea not null,
  created_at timestamptz not null
);

-- Unused recovery codes. A used one is deleted.
create table recovery_codes (
  user_id uuid not null references users (id) on delete cascade,
  code_hash bytea not null,
  primary key (user_id, code_hash)
);

-- Wrong codes of a person, from all networks.
create table code_failures (
  user_id uuid primary key references users (id) on delete cascade,
  began_at timestamptz not null,
  failed integer not null,
  day_began_at timestamptz not null,
  day_failed integer not null
);

-- Sign-ins that lack only the code. A table of its own, because the release before would take one among the sessions for
-- a session.
create table pending_sign_ins (
  token_hash bytea primary key,
  user_id uuid not null references users (id) on delete cascade,
  by_link boolean not null,
  created_at timestamptz not null
);
create index pending_sign_ins_of_user on pending_sign_ins (user_id, created_at);
