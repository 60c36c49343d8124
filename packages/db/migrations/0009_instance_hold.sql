-- The release before can run on it: it knows no hold of this scope, and sends.

alter table holds drop constraint holds_scope_check;
-- Validated at once: holds are few.
alter table holds add constraint holds_scope_check
  check (scope in ('instance', 'queue', 'destination', 'sender_domain', 'api_key', 'webhook'));
