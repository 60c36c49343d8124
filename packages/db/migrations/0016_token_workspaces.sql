-- The release before can run on it: it leaves the column empty, and such a token acts in its session's workspace.

-- A session may act in each of its user's workspaces, so a token says for which one it was created.
alter table session_tokens add column workspace_id uuid;
