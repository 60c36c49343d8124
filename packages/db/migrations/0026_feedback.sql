-- The release before can run on it: it takes no posts of relays, which repeat them.

-- Where a relay reports what became of email after it took it.
create table transport_feedback (
  transport_id uuid primary key references transports (id) on delete cascade,
  provider text not null,
  -- SHA-256 of the token in the address, and of the one before it, which is accepted until previous_until.
  token_hash bytea not null unique,
  previous_token_hash bytea unique,
  previous_until timestamptz,
  -- Encrypted under SECRET_KEY, JSON: the token, and the secret that signs the posts.
  secrets bytea not null,
  created_at timestamptz not null,
  -- The last post with a valid proof, and the last without one.
  confirmed_at timestamptz,
  rejected_at timestamptz,
  rejection text
);

-- Verified events, stored before the relay gets its response. Pending ones are matched again for a while, because a
-- relay may report before our own record of the attempt.
create table feedback_events (
  transport_id uuid not null references transport_feedback (transport_id) on delete cascade,
  event_id text collate "C" not null,
  kind text not null check (kind in ('bounced', 'complained', 'delayed', 'delivered')),
  state text not null check (state in ('pending', 'recorded', 'ignored', 'unmatched')),
  -- JSON: the recipient, our reference, the Message-ID, the status and the diagnostic, as far as the relay named them.
  facts text not null,
  -- Why it changed nothing.
  detail text,
  received_at timestamptz not null,
  due_at timestamptz not null,
  primary key (transport_id, event_id)
);
create index feedback_events_due on feedback_events (transport_id, due_at) where state = 'pending';
create index feedback_events_received on feedback_events (transport_id, received_at desc);
