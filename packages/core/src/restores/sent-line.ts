import { z } from 'zod';
import { isId } from '../fields/ids.ts';

/** The outcome that a line states for an email; null if the line names an email but states no recognized outcome. */
export type Outcome = 'sent' | 'unsent' | null;

/** The entry in a relay's queue that a line is about. Only some lines about an entry contain the Message-ID. */
export interface QueueEntry {
  readonly key: string;
  readonly is_arrival: boolean;
  readonly is_end: boolean;
}

export interface SentLine {
  readonly message_ids: readonly string[];
  readonly outcome: Outcome;
  /** Lowercase addresses, or ids of our recipients. */
  readonly recipients: readonly string[];
  readonly entry: QueueEntry | null;
}

const MAX_READ_CHARS = 10_000;

// Our Message-IDs have a message id before the @.
const MESSAGE = /\bmsg_[0-9a-z]{26}\b/g;
const BRACKETED = /<([^<>\s]+@[^<>\s]+)>/g;
// Anchored to the start of a word, so that a long word without an @ is scanned only once.
const ADDRESS = /(?<![^\s<>"'(),;:=[\]])[^\s<>"'(),;:=[\]]+@[^\s<>"'(),;:=[\]]+/g;
const SENDER = /\b(?:from|sender|ctladdr|F|P)["']?\s*[=:]\s*(?:<[^<>]*>|"[^"]*"|[^\s,;]+)/g;
const RECIPIENTS =
  /(?<![\w-])(?:orig_to|to|rcpt|recipient|email)["']?\s*[=:]\s*["']?((?:<[^<>]*>|[^\s<>"',;=()[\]]+@[^\s<>"',;=()[\]]+)(?:,\s*<[^<>]*>)*)/gi;

// Matches lines of Postfix and Sendmail, including the host name, because two relays may use the same queue id.
const SYSLOG = /(?<!\S)(?:(\S+)\s)?[\w./-]+\[\d+\]: (?!NOQUEUE|warning|error|fatal|panic)([0-9A-Za-z]{5,20}): (.*)$/;
const SYSLOG_ARRIVAL = /\b(?:message-id|msgid)=/;
const DISCARD = /\bpostfix[\w.-]*\/discard\[/;
const EXIM = /(?:^|\s)([0-9A-Za-z]{6}-[0-9A-Za-z]{6,11}-[0-9A-Za-z]{2,4}) (<=|=>|->|>>|\*>|==|\*\*|Completed)(?=\s|$)/;
const EXIM_FLAG = /(?:^|\s)(=>|->|>>|\*>|==|\*\*)\s/;
const EXIM_FIELDS = /\s[A-Z]{1,4}=/;

const REJECT = /\b(?:reject[:=]|rejected\b)/i;
const STATUS = /\b(?:stat|status|event)["']?\s*[=:]\s*(?:"([^"]*)"|'([^']*)'|([\w.-]+))/i;
const SENT_WORDS = new Set(['sent', 'delivered']);
const UNSENT_WORDS = new Set([
  'bounced',
  'canceled',
  'deferred',
  'deliverable',
  'expired',
  'failed',
  'queued',
  'rejected',
  'softbounce',
  'suppressed',
  'undeliverable',
]);
const FAILURE_REPLY = /(?:^|(?<!\d)[\s,;:|("'])[45]\d\d(?=[ -]|["',;)]|$)|(?<!\.)\b[45]\.\d{1,3}\.\d{1,3}\b(?!\.)/;
// A number counts as a reply only in a reply's position and with its words: a log also contains sizes and times.
const SENT_REPLY =
  /(?:^|<>|(?<!\d)[,;:|("']|\b(?:reply|response|code|said|C)\s*=)\s*["']?250(?:\s*$|["',;)]|[ -]2\.\d{1,3}\.\d{1,3}\b|[ -](?:ok|okay|taken|accepted|queued|delivered|saved|message|mail|requested|thanks?)\b)/i;
const FAILURE_WORDS =
  /\b(?:not|no|deferred|bounced?|failed|failure|refused|expired|dropped|blocked|error|time(?:d )?out)\b/i;
const LABELS = new Set(['to', 'message-id', 'message_id', 'msgid', 'id', 'email_id', 'email']);

const ownLine = z.object({ level: z.union([z.number(), z.string()]), msg: z.string() });
const ownFinish = z.object({
  msg: z.literal('mail finished'),
  status: z.string(),
  email_id: z.string(),
  recipient_id: z.string(),
});

/** Interprets a log line from Postfix, Sendmail, Exim or Postrider itself, or from a list written by hand. */
export function readSentLine(full_line: string, isQueued: (key: string) => boolean): SentLine {
  const line = full_line.slice(0, MAX_READ_CHARS);
  const message_ids = [...new Set(line.match(MESSAGE)?.filter((id) => isId('message', id)))];
  const own = message_ids.length > 0 ? jsonIn(line) : null;
  if (ownLine.safeParse(own).success) {
    const finish = ownFinish.safeParse(own).data;
    return {
      message_ids: message_ids.filter((id) => finish === undefined || id === finish.email_id),
      outcome: finish?.status === 'delivered' ? 'sent' : 'unsent',
      recipients: finish ? [finish.recipient_id] : [],
      entry: null,
    };
  }
  const entry = entryOf(line);
  // Most lines of a relay are about other email.
  if (message_ids.length === 0 && (entry === null || !isQueued(entry.key)))
    return { message_ids, outcome: null, recipients: [], entry };
  return { message_ids, outcome: outcomeOf(line), recipients: recipientsIn(line), entry };
}

/** Parses the object in a line of JSON, including after a Docker or journal prefix. */
function jsonIn(line: string): unknown {
  const start = line.indexOf('{');
  if (start < 0) return null;
  try {
    return JSON.parse(line.slice(start));
  } catch {
    return null;
  }
}

function entryOf(line: string): QueueEntry | null {
  const [, exim_id, flag] = EXIM.exec(line) ?? [];
  if (exim_id !== undefined) return { key: exim_id, is_arrival: flag === '<=', is_end: flag === 'Completed' };
  const [, host = '', queue_id, text = ''] = SYSLOG.exec(line) ?? [];
  if (queue_id === undefined) return null;
  return { key: `${host} ${queue_id}`, is_arrival: SYSLOG_ARRIVAL.test(text), is_end: text.startsWith('removed') };
}

function outcomeOf(line: string): Outcome {
  // An address or a HELO may contain any word.
  const text = line
    .replace(/<[^<>]*>/g, '<>')
    .replace(ADDRESS, '<>')
    .replace(MESSAGE, '<>');
  if (DISCARD.test(line)) return 'unsent';
  const exim_flag = EXIM.exec(line)?.[2];
  if (exim_flag !== undefined) return flagOutcome(exim_flag);
  if (REJECT.test(text)) return 'unsent';
  const status = STATUS.exec(text);
  const word = (status?.[1] ?? status?.[2] ?? status?.[3])?.toLowerCase();
  if (word !== undefined && !/^\d/.test(word)) {
    if (SENT_WORDS.has(word)) return 'sent';
    return UNSENT_WORDS.has(word) ? 'unsent' : null;
  }
  const flag = EXIM_FLAG.exec(text)?.[1];
  if (flag !== undefined && flagOutcome(flag) === 'unsent') return 'unsent';
  const is_sent = flag !== undefined || SENT_REPLY.test(text) || isListed(text);
  if (FAILURE_REPLY.test(text)) return is_sent ? null : 'unsent';
  return is_sent && !FAILURE_WORDS.test(text) ? 'sent' : null;
}

function flagOutcome(flag: string): Outcome {
  if (flag === '<=' || flag === 'Completed') return null;
  return flag === '=>' || flag === '->' || flag === '>>' ? 'sent' : 'unsent';
}

/**
 * Returns whether a line of ids, addresses and times has exactly one other word, which says that the email was sent.
 */
function isListed(text: string): boolean {
  const words = text
    .toLowerCase()
    .split(/[\s,;|:="'<>()[\]]+/)
    .filter((word) => /^[a-z]/.test(word) && !/\d/.test(word) && !LABELS.has(word));
  return words.length === 1 && words.every((word) => SENT_WORDS.has(word) || word === 'taken');
}

function recipientsIn(line: string): string[] {
  const labeled = [...line.matchAll(RECIPIENTS)].flatMap(([, list = '']) => addressesIn(list));
  if (labeled.length > 0) return labeled;
  const exim = EXIM.exec(line);
  if (exim === null) return addressesIn(line.replace(SENDER, ''));
  const text = line.slice(exim.index + exim[0].length);
  const end = text.search(EXIM_FIELDS);
  return addressesIn(end < 0 ? text : text.slice(0, end));
}

function addressesIn(text: string): string[] {
  const bracketed = [...text.matchAll(BRACKETED)].map(([, address = '']) => address);
  const bare = text.replace(BRACKETED, ' ').match(ADDRESS) ?? [];
  return [...bracketed, ...bare]
    .map((address) => address.toLowerCase())
    .filter((address) => !address.startsWith('msg_'));
}
