-- The release before can run on it: it counts no window of a workspace, and creates plans without the limit.

-- Requests a minute of all API keys of a workspace; null for no limit.
alter table plans add column workspace_rate integer;
