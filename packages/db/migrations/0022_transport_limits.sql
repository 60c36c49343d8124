-- The release before can run on it: it closes lanes for one of the two reasons that it has.

-- transport_limit: the limit of a transport is used up.
alter table lanes drop constraint lanes_reason_check;
alter table lanes add constraint lanes_reason_check check (reason in ('failing', 'limit', 'transport_limit')) not valid;
alter table lanes validate constraint lanes_reason_check;
