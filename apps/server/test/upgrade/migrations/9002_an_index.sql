-- concurrently: the release before can run on it.
create index messages_mood on messages (uuid_hash(workspace_id), mood, id) where mood <> 'calm';
