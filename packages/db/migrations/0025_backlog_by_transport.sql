-- The previous release can run on it: it counts the other parts only.

alter table backlog_snapshots drop constraint backlog_snapshots_part_check;
alter table backlog_snapshots add constraint backlog_snapshots_part_check
  check (part in ('recipients', 'messages', 'transports')) not valid;
alter table backlog_snapshots validate constraint backlog_snapshots_part_check;
