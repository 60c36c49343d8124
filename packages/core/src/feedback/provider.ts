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
  /** The Message-ID, without its brackets. */
  readonly message_id?: string | undefined;
  readonly status?: string | undefined;
  readonly diagnostic?: string | undefined;
  /** The provider's own sorting, in the categories of PowerMTA, for texts that say too little. */
  readonly sorted_as?: string | undefined;
}

export interface FeedbackPost {
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** How one provider reports. */
export interface FeedbackProvider {
  /** Who makes the secret: we do, or the provider shows its own, which may be a public key. */
  readonly secret: 'ours' | 'theirs';
  /** Returns the header line by which the relay learns our reference. */
  header(reference: string): string;
  /** Returns why a post is not genuine; null if it is. */
  problemOf(post: FeedbackPost, secret: string, now_ms: number): string | null;
  /** Returns the reports of a genuine post, and how many entries could not be read. */
  read(post: FeedbackPost): { readonly reports: readonly FeedbackReport[]; readonly unread: number };
}
