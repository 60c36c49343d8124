import type { KnownSent, KnownState, RecipientQuery, UnclearLine } from './known-sent.ts';
import { readSentLine, type SentLine } from './sent-line.ts';

const MAX_UNCLEAR_LINES = 1000;
const MAX_SHOWN_CHARS = 300;

interface Outcomes {
  /** Whether a line says that the email was sent without naming a recipient. */
  is_sent_to_unnamed: boolean;
  readonly sent_to: Set<string>;
  readonly unsent_to: Set<string>;
}

/** An email in a relay's queue with the line that named it, kept until another line states the outcome. */
interface QueuedArrival {
  readonly message_ids: readonly string[];
  arrival: UnclearLine | null;
}

/**
 * Reads a log of sent email: lines that name a Message-ID, or an entry in a relay's queue, and say that it was sent.
 */
export async function readSentLog(name: string, lines: AsyncIterable<string> | Iterable<string>): Promise<KnownSent> {
  const log = new SentLog(name);
  for await (const line of lines) log.add(line);
  log.end();
  const ids = [...log.outcomes.keys()].sort();
  return {
    name,
    unclear_lines: log.unclear,
    async lookup(keys) {
      return keys.map((one) => judge(one, log.outcomes.get(one.message_id)));
    },
    async messagesFrom(id, count) {
      const first = ids.findIndex((one) => one >= id);
      const page = first < 0 ? [] : ids.slice(first, first + count);
      return page.map((one) => ({ id: one, is_closed: isClosed(log.outcomes.get(one)) }));
    },
  };
}

class SentLog {
  readonly outcomes = new Map<string, Outcomes>();
  readonly unclear: { count: number; listed: UnclearLine[] } = { count: 0, listed: [] };
  readonly #name: string;
  readonly #queue = new Map<string, QueuedArrival>();
  #line_number = 0;

  constructor(name: string) {
    this.#name = name;
  }

  add(text: string): void {
    this.#line_number += 1;
    const line = readSentLine(text, (key) => this.#queue.has(key));
    const queued = this.#queuedFor(line, text);
    for (const id of line.message_ids) this.#outcomesOf(id);
    if (line.outcome !== null) {
      if (queued) queued.arrival = null;
      const ids = line.message_ids.length > 0 ? line.message_ids : (queued?.message_ids ?? []);
      for (const id of ids) note(this.#outcomesOf(id), line);
    } else if (line.message_ids.length > 0 && !queued?.arrival) {
      this.#list(this.#shown(text));
    }
    if (line.entry?.is_end) this.#forget(line.entry.key);
  }

  end(): void {
    for (const key of [...this.#queue.keys()]) this.#forget(key);
    this.unclear.listed.sort((one, other) => one.line_number - other.line_number);
  }

  #queuedFor({ entry, message_ids }: SentLine, text: string): QueuedArrival | undefined {
    if (entry === null) return undefined;
    if (entry.is_arrival) {
      // Postfix reuses its queue ids, also for email that is not ours.
      this.#forget(entry.key);
      if (message_ids.length > 0) this.#queue.set(entry.key, { message_ids, arrival: this.#shown(text) });
    }
    return this.#queue.get(entry.key);
  }

  #forget(key: string): void {
    const arrival = this.#queue.get(key)?.arrival;
    if (arrival) this.#list(arrival);
    this.#queue.delete(key);
  }

  #list(line: UnclearLine): void {
    this.unclear.count += 1;
    if (this.unclear.listed.length < MAX_UNCLEAR_LINES) this.unclear.listed.push(line);
  }

  /** Removes control characters, which a terminal would interpret. */
  #shown(text: string): UnclearLine {
    const line = text.slice(0, MAX_SHOWN_CHARS).replace(/\p{C}/gu, ' ').trim();
    return { log: this.#name, line_number: this.#line_number, line };
  }

  #outcomesOf(id: string): Outcomes {
    const outcomes = this.outcomes.get(id) ?? { is_sent_to_unnamed: false, sent_to: new Set(), unsent_to: new Set() };
    this.outcomes.set(id, outcomes);
    return outcomes;
  }
}

function note(outcomes: Outcomes, { outcome, recipients }: SentLine): void {
  if (outcome === 'sent' && recipients.length === 0) outcomes.is_sent_to_unnamed = true;
  const addresses = outcome === 'sent' ? outcomes.sent_to : outcomes.unsent_to;
  for (const recipient of recipients) addresses.add(recipient);
}

/** A later line may say that a recipient was sent to who was deferred before. */
function isClosed(outcomes: Outcomes | undefined): boolean {
  if (outcomes === undefined) return false;
  const { is_sent_to_unnamed, sent_to, unsent_to } = outcomes;
  return (is_sent_to_unnamed || sent_to.size > 0) && [...unsent_to].every((address) => sent_to.has(address));
}

function judge({ email, recipient_id, recipient_count }: RecipientQuery, outcomes: Outcomes | undefined): KnownState {
  if (outcomes === undefined) return null;
  const { is_sent_to_unnamed, sent_to, unsent_to } = outcomes;
  const isIn = (addresses: ReadonlySet<string>) => addresses.has(email.toLowerCase()) || addresses.has(recipient_id);
  if (isIn(sent_to) || (is_sent_to_unnamed && recipient_count === 1)) return 'sent';
  // A relay may send a copy elsewhere, which says nothing about our recipients.
  if (isIn(unsent_to)) return null;
  return is_sent_to_unnamed || sent_to.size > 0 ? 'perhaps' : null;
}
