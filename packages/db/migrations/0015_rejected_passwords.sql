-- The release before can run on it: no column changes.

-- Rejected password changes were stored with both passwords.
update requests set body = null where api = 'trpc' and path = 'people.changePassword' and body is not null;
