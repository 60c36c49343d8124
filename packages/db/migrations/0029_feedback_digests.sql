-- The release before can run on it: it leaves the column empty, and does not compare it.

-- Keyed digest of the kind and the facts, which are cleared after a match. Only of providers whose signature covers the
-- ID of an event, but not its content: the ID proves one content only.
alter table feedback_events add column digest bytea;
