-- The release before can run on it: it leaves the column at its default.
alter table messages add column mood text not null default 'calm';
