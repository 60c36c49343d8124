export const feedbackKinds = ['bounced', 'complained', 'delayed', 'delivered'] as const;
export type FeedbackKind = (typeof feedbackKinds)[number];

/** What a relay says about one email. */
export interface FeedbackReport {
  /** Unique at this transport, so that a repeated post changes nothing. */
  readonly event_id: string;
  readonly kind: FeedbackKind;
  readonly facts: FeedbackFacts;
}

/** As far as the relay named them. */
export interface FeedbackFacts {
  readonly recipient?: string | undefined;
  /** Our reference. */
  readonly reference?: string | undefined;
  /** The ID that the relay gave the email in its response to DATA. */
  readonly relay_id?: string | undefined;
  /** The Message-ID, without its brackets. */
  readonly message_id?: string | undefined;
  readonly status?: string | undefined;
  readonly diagnostic?: string | undefined;
  /** The provider's own sorting, in the categories of PowerMTA, for texts that say too little. */
  readonly sorted_as?: string | undefined;
  /** The relay did not try, because the address is on a suppression list of its own. */
  readonly is_relay_suppressed?: boolean | undefined;
}

export interface FeedbackPost {
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

export interface ProofContext {
  readonly now_ms: number;
  /** Returns a certificate of the provider. Rejects if it cannot be fetched now. */
  certificateAt(url: URL): Promise<string>;
}

/** How one provider reports. */
export interface FeedbackProvider {
  /** Its SMTP servers. They keep bounces, whatever the envelope sender is. */
  readonly host?: RegExp;
  /** Who makes the secret: we do, or the provider shows its own, which may be a public key. */
  readonly secret: 'ours' | 'theirs';
  /** Returns why a secret of the provider cannot be right; null if it can. */
  secretProblem?(secret: string): string | null;
  /** Its signature covers the ID of an event, but not its content. The ID then proves one content only. */
  readonly signs_only_id?: true;
  /** What captures the ID of an email from the text of the relay's 250, for reports that repeat nothing else of ours. */
  readonly relay_id?: RegExp;
  /** Returns the header line by which the relay learns our reference. */
  header(reference: string): string;
  /** Returns why a post is not genuine; null if it is. */
  problemOf(post: FeedbackPost, secret: string, context: ProofContext): string | null | Promise<string | null>;
  /** Returns the URL by which a genuine post wants its subscription to be confirmed; null if it is no such post. */
  confirmationOf?(post: FeedbackPost): URL | null;
  /** Returns what an operator should know about a genuine post that reports nothing; null: nothing. */
  warningOf?(post: FeedbackPost): string | null;
  /** Returns the reports of a genuine post, and how many entries could not be read. */
  read(post: FeedbackPost): { readonly reports: readonly FeedbackReport[]; readonly unread: number };
}
