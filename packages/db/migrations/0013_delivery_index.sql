-- concurrently: the release before can run on it.

-- Serves erasures, which read the deliveries of one workspace.
create index webhook_deliveries_of on webhook_deliveries (uuid_hash(workspace_id), id);
