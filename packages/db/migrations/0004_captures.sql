-- First release: nothing older runs on it.

-- Mail that the built-in capture received instead of a remote server.
create table captures (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  envelope_from text not null,
  envelope_to text[] not null,
  subject text not null,
  message_id uuid,
  raw bytea not null,
  -- Of raw, so that a quota is counted without reading it.
  size_bytes integer not null,
  received_at timestamptz not null,
  primary key (workspace_id, id)
);
create index captures_newest on captures (id);

-- lz4 costs a fraction of the default compression; a server built without it keeps the default.
do $$
begin
  alter table bodies alter column html set compression lz4, alter column text set compression lz4,
    alter column attachments set compression lz4;
  alter table attempts alter column transcript set compression lz4;
  alter table captures alter column raw set compression lz4;
exception when feature_not_supported then
  raise notice 'this server has no lz4; bodies use pglz';
end $$;
