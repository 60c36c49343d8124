-- The release before can run on it, but its searches of the log by address are slow.

drop index recipients_email;
drop index messages_sender;
