-- The release before can run on it: it parks every mail as normal.

alter table parked_deliveries add column priority mail_priority not null default 'normal';
drop index parked_deliveries_turn;
-- Serves the next slice of a lane: of one priority, one workspace after another, each in the order of its due times.
create index parked_deliveries_turn on parked_deliveries (lane, priority, workspace_id, due_at, job_id);

alter table messages add column content_deleted boolean not null default false;
