-- The release before can run on it: it leaves the columns empty and writes no receipts.

-- The ID that a relay with feedback gave an email in its 250. A row may outlive its feedback, so that no settle can fail
-- because the feedback was removed meanwhile; it names no recipient of another transport.
create table relay_receipts (
  transport_id uuid not null,
  relay_id text collate "C" not null,
  message_id uuid not null,
  recipient_id uuid not null,
  created_at timestamptz not null,
  primary key (transport_id, relay_id)
);
create index relay_receipts_created on relay_receipts (created_at);

-- Whether a relay accepted it, which delivers it further; null unless delivered, and for earlier deliveries.
alter table recipients add column relayed boolean;
-- When the relay reported that the recipient's own server accepted it.
alter table recipients add column confirmed_at timestamptz;

-- Delivered emails of the bucket that a relay accepted.
alter table stat_minutes add column relayed integer not null default 0;
alter table stat_hours add column relayed integer not null default 0;
alter table stat_days add column relayed integer not null default 0;
