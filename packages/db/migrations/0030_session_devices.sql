-- The release before can run on it: it leaves the columns empty.

-- From where a session was started: the IP address, and what the browser says it is.
alter table sessions add column address text;
alter table sessions add column user_agent text;
