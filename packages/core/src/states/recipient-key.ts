/** The key of a recipient row. */
export interface RecipientKey {
  readonly workspace_id: string;
  readonly message_id: string;
  readonly recipient_id: string;
}

/** Returns only the key of a larger row. */
export function keyOf({ workspace_id, message_id, recipient_id }: RecipientKey): RecipientKey {
  return { workspace_id, message_id, recipient_id };
}
