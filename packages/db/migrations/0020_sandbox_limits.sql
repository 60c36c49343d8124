-- The release before can run on it: it does not read the columns, and plans that it creates get their defaults.

-- Tests of an integrator run side by side and ask for what they sent, so sandbox keys may ask ten times as often. No
-- sandbox key gets less than a live key of the same plan.
alter table plans
  add column sandbox_logs_per_minute integer not null default 600,
  add column sandbox_default_per_minute integer not null default 1200;
update plans set sandbox_logs_per_minute = greatest(sandbox_logs_per_minute, logs_per_minute),
  sandbox_default_per_minute = greatest(sandbox_default_per_minute, default_per_minute);
