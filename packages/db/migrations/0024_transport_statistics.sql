-- The release before can run on it: it counts nothing by transport.

-- transport: the ID of a transport, or default; empty for what belongs to no attempt. The hours and days have the
-- constraint under the name of the minutes.
alter table stat_minutes drop constraint stat_minutes_dimension_check;
alter table stat_minutes add constraint stat_minutes_dimension_check
  check (dimension in ('none', 'domain', 'tag', 'provider', 'destination', 'api_key', 'transport')) not valid;
alter table stat_minutes validate constraint stat_minutes_dimension_check;

alter table stat_hours drop constraint stat_minutes_dimension_check;
alter table stat_hours add constraint stat_minutes_dimension_check
  check (dimension in ('none', 'domain', 'tag', 'provider', 'destination', 'api_key', 'transport')) not valid;
alter table stat_hours validate constraint stat_minutes_dimension_check;

alter table stat_days drop constraint stat_minutes_dimension_check;
alter table stat_days add constraint stat_minutes_dimension_check
  check (dimension in ('none', 'domain', 'tag', 'provider', 'destination', 'api_key', 'transport')) not valid;
alter table stat_days validate constraint stat_minutes_dimension_check;
