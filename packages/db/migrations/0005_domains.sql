-- First release: nothing older runs on it.

alter table domains
  -- Null for the sandbox, which needs no verification.
  add column ownership_token text,
  -- A name under the domain; the envelope's domain once its record has been found.
  add column return_path text collate "C",
  add column return_path_ready boolean not null default false,
  -- Whether it has a second key, whose signature few receivers check.
  add column dkim_ed25519 boolean not null default false,
  -- The keys that sign now. Next and retired keys of the domain may be published too.
  add column signing_key_ids uuid[] not null default '{}',
  add column status_since timestamptz not null default clock_now(),
  add column status_reason text,
  add column last_checked_at timestamptz,
  add column next_check_at timestamptz,
  -- The last check's result for each record, as JSON.
  add column checks text not null default '{}';

-- Serves the background check: the domains that are due.
create index domains_due on domains (next_check_at) where next_check_at is not null;

-- A key never changes, its role does. Each has a selector of its own, because a name in the DNS publishes one key.
create table dkim_keys (
  workspace_id uuid not null,
  domain_id uuid not null references domains (id) on delete cascade,
  id uuid primary key,
  selector text collate "C" not null,
  algorithm text not null check (algorithm in ('rsa', 'ed25519')),
  -- As in p= of the record.
  public_key text not null,
  -- PKCS #8, encrypted under SECRET_KEY for this id.
  encrypted_private_key bytea not null,
  -- Next: its record is to be published. Active: it signs. Retired: mail that it signed may still be under way.
  role text not null check (role in ('next', 'active', 'retired')),
  role_since timestamptz not null,
  -- Since when every check has found its record correct, and for how long that must last before it signs: as long as
  -- caches may hold an earlier record of that name.
  right_since timestamptz,
  wait_seconds integer not null default 0,
  created_at timestamptz not null,
  unique (domain_id, selector)
);
