-- First release: nothing older runs on it.

-- The members of workspaces and their roles. Operators need no row: they may act in every workspace.
create table members (
  workspace_id uuid not null references workspaces (id),
  user_id uuid not null references users (id),
  role text not null check (role in ('viewer', 'member', 'admin')),
  created_at timestamptz not null,
  primary key (workspace_id, user_id)
);
create index members_of_user on members (user_id);

-- A session is found by the hash of its token, which only the browser has. It acts in one workspace at a time.
create table sessions (
  id uuid primary key,
  token_hash bytea not null unique,
  user_id uuid not null references users (id),
  workspace_id uuid not null references workspaces (id),
  -- Started by a login link, which counts as much as the current password.
  by_link boolean not null,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  -- The time of the last authentication by password or login link.
  authenticated_at timestamptz not null
);
create index sessions_of_user on sessions (user_id);

-- Bearer tokens of sessions for /v1 and /graphql, valid for minutes. They end with their session.
create table session_tokens (
  token_hash bytea primary key,
  session_id uuid not null references sessions (id) on delete cascade,
  expires_at timestamptz not null
);
create index session_tokens_of_session on session_tokens (session_id);

create table login_links (
  token_hash bytea primary key,
  user_id uuid not null references users (id),
  expires_at timestamptz not null
);
create index login_links_of_user on login_links (user_id);

-- Failed logins, by the hash of the email address or by client address. Unlogged: a crash of the database resets them.
create unlogged table login_failures (
  subject text collate "C" primary key,
  began_at timestamptz not null,
  failed integer not null
) with (fillfactor = 50);
