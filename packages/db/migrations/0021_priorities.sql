-- The release before can run on it: it parks every mail as normal, and its searches by address are slow.

alter table parked_deliveries add column priority mail_priority not null default 'normal';
drop index parked_deliveries_turn;
-- Serves the next slice of a lane: of one priority, one workspace after another, each in the order of its due times.
create index parked_deliveries_turn on parked_deliveries (lane, priority, workspace_id, due_at, job_id);

-- Serves the log by priority, which is normal for nearly every mail.
create index messages_priority on messages (uuid_hash(workspace_id), priority, id) where priority <> 'normal';

alter table messages add column content_deleted boolean not null default false;
-- Serves the job that deletes contents which are not kept: the closed messages that still have one.
create index messages_to_empty on messages (status, id) where retain = 'none' and not content_deleted;

-- Searches of the log compare addresses without case.
drop index recipients_email;
create index recipients_email on recipients (uuid_hash(workspace_id), lower(email), message_id) where email is not null;
drop index messages_sender;
create index messages_sender on messages (uuid_hash(workspace_id), from_domain, lower(from_email), id)
  where from_email is not null;
