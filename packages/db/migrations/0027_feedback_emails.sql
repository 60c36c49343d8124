-- The release before can run on it: it leaves the column empty.

-- The email that a report was matched with; what the relay said about its recipient is then not kept.
alter table feedback_events add column message_id uuid;
