export const dimensions = ['destination', 'provider', 'sender_domain', 'api_key', 'tag', 'transport'] as const;
export type Dimension = (typeof dimensions)[number];

/** The actions of a dialog: on a row's email or hold, or a limit for a destination that the dialog asks for. */
export const backlogActions = ['hold', 'release', 'limit', 'new_limit', 'retry', 'give_up'] as const;
export type BacklogAction = (typeof backlogActions)[number];
