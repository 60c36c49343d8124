export interface RecipientKey {
  readonly workspace_id: string;
  readonly message_id: string;
  readonly recipient_id: string;
}
