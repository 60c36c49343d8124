-- The release before can run on it: what it delivers counts as not captured.

-- Whether a delivered message went to the test inbox instead of a mail server. Earlier deliveries count as not captured.
alter table recipients add column captured boolean not null default false;

-- Delivered emails of the bucket that were captured.
alter table stat_minutes add column captured integer not null default 0;
alter table stat_hours add column captured integer not null default 0;
alter table stat_days add column captured integer not null default 0;
