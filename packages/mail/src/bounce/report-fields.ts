import { cleanRemoteText } from '@postrider/net';

export type ReportAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';

/** One recipient of a report (RFC 3464 section 2.3). */
export interface ReportedRecipient {
  readonly action: ReportAction;
  /** For example 5.1.1. */
  readonly status: string | null;
  /** The reply of the server that rejected the recipient, without the code type; safe to store. */
  readonly diagnostic: string | null;
  /** The final and the original address, if the report has them, in lower case. */
  readonly addresses: readonly string[];
  /** PowerMTA's classification, for example bad-mailbox. */
  readonly sorted_as: string | null;
}

type Fields = ReadonlyMap<string, string>;

// Values that servers write in the Action field, matched by prefix. The right side has the five values of RFC 3464
// section 2.3.3.
const ACTIONS: readonly (readonly [RegExp, ReportAction])[] = [
  [/^(?:delay|defer|warn|transient|temp)/, 'delayed'],
  [/^(?:fail|perm|undeliver|expire|bounce|error|reject|refuse|hard|soft)/, 'failed'],
  [/^(?:deliver|success)/, 'delivered'],
  [/^relay/, 'relayed'],
  [/^expand/, 'expanded'],
];
const RECIPIENT_FIELDS = ['final-recipient', 'original-recipient', 'x-actual-recipient'];
// The limit of a folded value, of which 1 kB is stored.
const MAX_FIELD_LENGTH = 4096;
const MAX_BLOCKS = 200;

/**
 * Parses blocks of fields separated by empty lines (RFC 3464 section 2.1). Converts names to lower case and unfolds
 * values.
 */
export function readFieldBlocks(text: string): Fields[] {
  const blocks: Map<string, string>[] = [];
  let fields = new Map<string, string>();
  let name = '';
  for (const line of `${text}\n`.split(/\r?\n/)) {
    const field = /^([\w-]{1,60})[ \t]*:(.*)$/.exec(line);
    if (/^[ \t]+\S/.test(line)) {
      const value = fields.get(name) ?? '';
      if (name && value.length < MAX_FIELD_LENGTH) fields.set(name, `${value} ${line.trim()}`.trim());
    } else if (field?.[1]) {
      name = field[1].toLowerCase();
      // Some servers omit the empty line between two recipients.
      if (name === 'final-recipient' && fields.has(name)) {
        blocks.push(fields);
        fields = new Map();
      }
      if (!fields.has(name)) fields.set(name, (field[2] ?? '').trim());
    } else {
      if (fields.size > 0) blocks.push(fields);
      if (blocks.length >= MAX_BLOCKS) return blocks;
      fields = new Map();
      name = '';
    }
  }
  return blocks;
}

/** Returns the recipients in a text of field blocks. In a text for people, only blocks that name a recipient count. */
export function reportedRecipients(text: string, is_report_part: boolean): ReportedRecipient[] {
  return readFieldBlocks(text).flatMap((fields) => {
    const has_recipient = RECIPIENT_FIELDS.some((name) => fields.has(name));
    const has_fields = fields.has('action') || fields.has('status') || fields.has('diagnostic-code');
    return has_fields && (has_recipient || (is_report_part && fields.has('action'))) ? [reportedRecipient(fields)] : [];
  });
}

function reportedRecipient(fields: Fields): ReportedRecipient {
  const status_field = fields.get('status') ?? '';
  // Exchange 2000 puts the reply in X-Supplementary-Info; others explain the status in brackets after it.
  const diagnostic =
    afterType(fields.get('diagnostic-code')) ??
    afterType(fields.get('x-supplementary-info')) ??
    (cleanRemoteText(/^[\d.]+\s*\(([^)]{3,})\)/.exec(status_field)?.[1] ?? '') || null);
  const status = statusIn(status_field) ?? statusIn(diagnostic ?? '');
  return {
    action: actionOf(fields.get('action') ?? '', status, diagnostic),
    status,
    diagnostic,
    addresses: [...new Set(RECIPIENT_FIELDS.flatMap((name) => addressIn(fields.get(name)) ?? []))],
    sorted_as: fields.get('x-powermta-bouncecategory')?.toLowerCase().slice(0, 40) ?? null,
  };
}

function actionOf(text: string, status: string | null, diagnostic: string | null): ReportAction {
  const [, action] = ACTIONS.find(([beginning]) => beginning.test(text.trim().toLowerCase())) ?? [];
  const is_rejection = /^[45]\d\d[ -]/.test(diagnostic ?? '');
  // A success status counts as success whatever the action says, unless a server rejected the message.
  if ((action === undefined || action === 'failed') && status?.startsWith('2') && !is_rejection) return 'delivered';
  return action ?? 'failed';
}

function addressIn(value: string | undefined): string | null {
  const address = afterType(value)
    ?.replace(/^.*<([^<>]*)>.*$/, '$1')
    .trim()
    .toLowerCase();
  return address || null;
}

/** Returns `550 no` for `smtp; 550 no` (RFC 3464 section 2.1.2). */
function afterType(value: string | undefined): string | null {
  if (value === undefined) return null;
  return cleanRemoteText(value.replace(/^[\w-]+(?:[ \t]*\([^)]{0,40}\))?[ \t]*;/, '')) || null;
}

export function statusIn(text: string): string | null {
  return /(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d.]*\d)/.exec(text)?.[0] ?? null;
}
