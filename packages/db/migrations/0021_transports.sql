-- The release before can run on it: it sends everything by DELIVERY, also email parked in the lane of a transport.

-- With the kind of transports at the end.
create or replace function id_kinds() returns text[] language sql immutable parallel safe as $$
  select '{msg,rcp,att,evt,key,dom,whk,whd,sup,req,wsp,usr,hld,aud,blk,job,cap,dkk,ses,alm,imp,ers,inv,trn}'::text[]
$$;

-- Ways to send that rules choose from; DELIVERY is the default and has no row.
create table transports (
  id uuid primary key,
  name text collate "C" not null unique,
  kind text not null check (kind in ('mx', 'smtp')),
  host text collate "C",
  port integer check (port between 1 and 65535),
  tls text check (tls in ('opportunistic', 'starttls', 'implicit', 'none')),
  username text,
  -- Encrypted under SECRET_KEY.
  password bytea,
  -- Whose domain the envelope sender has: ours, where bounces arrive, or that of the From header.
  envelope_from text not null default 'ours' check (envelope_from in ('ours', 'from_domain')),
  -- relay_safe: without the fields that relays rewrite.
  signing text not null default 'all' check (signing in ('all', 'relay_safe', 'none')),
  -- JSON: fields that are added to every email.
  headers text not null default '{}',
  max_connections integer check (max_connections > 0),
  messages_per_minute integer check (messages_per_minute > 0),
  messages_per_day integer check (messages_per_day > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((kind = 'smtp') = (host is not null and port is not null and tls is not null)),
  check (kind = 'smtp' or username is null),
  check ((username is null) = (password is null))
);

-- The first rule that matches decides. A null column matches everything.
create table transport_rules (
  position integer primary key,
  workspace_id uuid references workspaces (id),
  from_domain text collate "C",
  tag text collate "C",
  priority mail_priority,
  destination text collate "C",
  -- In order of preference; the nil uuid is the default transport.
  transports uuid[] not null check (cardinality(transports) > 0)
);

-- How many emails a transport has taken in a minute and in a day in UTC.
create table transport_windows (
  transport_id uuid not null,
  unit text not null check (unit in ('minute', 'day')),
  starts_at timestamptz not null,
  used integer not null,
  primary key (transport_id, unit, starts_at)
);

-- One row. The version grows with every change; email that was parked before it is judged again.
create table transport_versions (
  only_row boolean primary key default true check (only_row),
  version bigint not null,
  -- The version by which all parked email was last judged.
  judged_version bigint not null
);
insert into transport_versions (version, judged_version) values (0, 0);

-- The transport of the attempt; null: the default one.
alter table attempts add column transport_id uuid;
