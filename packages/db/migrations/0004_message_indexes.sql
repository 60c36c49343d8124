-- concurrently: the release before can run on it.

-- Serves the log by priority, which is normal for nearly every mail.
create index messages_priority on messages (uuid_hash(workspace_id), priority, id) where priority <> 'normal';

-- Serves the job that deletes contents which are not kept: the closed messages that still have one.
create index messages_to_empty on messages (status, id) where retain = 'none' and not content_deleted;

-- Searches of the log compare addresses without case.
create index recipients_address on recipients (uuid_hash(workspace_id), lower(email), message_id) where email is not null;
create index messages_from_address on messages (uuid_hash(workspace_id), from_domain, lower(from_email), id)
  where from_email is not null;
