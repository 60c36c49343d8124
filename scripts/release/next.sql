-- The migration of the release that test-install.ts upgrades to.
create table upgraded (at timestamptz);
