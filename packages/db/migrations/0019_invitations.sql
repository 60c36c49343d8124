-- The release before can run on it: it neither writes nor reads the tables, and what it sends is not sealed.

-- With the kind of invitations at the end.
create or replace function id_kinds() returns text[] language sql immutable parallel safe as $$
  select '{msg,rcp,att,evt,key,dom,whk,whd,sup,req,wsp,usr,hld,aud,blk,job,cap,dkk,ses,alm,imp,ers,inv}'::text[]
$$;

-- Invitations by email. A null workspace invites an operator. Closed ones count toward the limit per day until deleted.
create table invitations (
  id uuid primary key,
  workspace_id uuid references workspaces (id),
  email text collate "C" not null check (email = lower(email)),
  role text not null check (role in ('viewer', 'member', 'admin', 'operator')),
  token_hash bytea not null unique,
  -- The email address or key name of who invited.
  invited_by text not null,
  -- Whether an operator invited, so that no admin of a workspace has seen the link.
  vouched boolean not null,
  email_count integer not null default 1,
  created_at timestamptz not null,
  sent_at timestamptz not null,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  revoked_at timestamptz,
  check ((role = 'operator') = (workspace_id is null))
);
create unique index invitations_pending on invitations (workspace_id, email) nulls not distinct
  where accepted_at is null and revoked_at is null;
create index invitations_of_workspace on invitations (workspace_id, id);

-- The last reset link of each person.
create table password_resets (
  user_id uuid primary key references users (id) on delete cascade,
  token_hash bytea not null unique,
  expires_at timestamptz not null,
  used_at timestamptz
);

-- Whether the content is unreadable in the workspace, because it has a link that signs its recipient in.
alter table messages add column sealed boolean not null default false;
