-- The release before can run on it.

-- Its rows are updated in place as often without room of their own: 99.1 % with it and 99.4 % without, of 80,000 mails.
alter table usage_months reset (fillfactor);
