import { cleanRemoteText } from '@postrider/net';
import type { ParsedMail } from 'mailparser';

export type ReportAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';

/** One recipient of a report (RFC 3464 section 2.3). */
export interface ReportedRecipient {
  readonly action: ReportAction;
  /** Such as 5.1.1. */
  readonly status: string | null;
  /** The refusing server's reply, without the code type; safe to store. */
  readonly diagnostic: string | null;
  /** The final and the original address, where the report has them, in lower case. */
  readonly addresses: readonly string[];
}

/** A mail sent back to an envelope sender. */
export type ReturnedMail =
  | { readonly kind: 'report'; readonly recipients: readonly ReportedRecipient[] }
  | { readonly kind: 'complaint'; readonly feedback_type: string }
  | { readonly kind: 'auto_reply' }
  | { readonly kind: 'other' };

type Fields = ReadonlyMap<string, string>;

// In a variable, because the declared options lack ignoreEmbedded, which mailsplit reads from the same object.
const cheap = {
  skipHtmlToText: true,
  skipTextToHtml: true,
  skipTextLinks: true,
  skipImageLinks: true,
  keepCidLinks: true,
  keepDeliveryStatus: true,
  // The returned mail is not part of the report, and its parts may be nested deeply.
  ignoreEmbedded: true,
};

const ACTIONS: readonly ReportAction[] = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'];
// RFC 3464, and RFC 6533 for addresses beyond ASCII.
const DELIVERY_STATUS = ['message/delivery-status', 'message/global-delivery-status'];
const OUT_OF_OFFICE =
  /^(?:auto(?:matic|matische)?[ -]?(?:reply|response|antwort)|out of (?:the )?office|abwesenheit|abwesend|away|vacation|on leave|réponse automatique|respuesta automática)/i;
// The first words of a bounce in qmail's source; each paragraph after it is <address>: and a reason.
const QMAIL = /^Hi\. This is /m;
// Of a folded value; 1 kB of it is stored.
const MOST_OF_A_FIELD = 4096;
const MOST_PARAGRAPHS = 100;

/** Reads a returned mail. It may be truncated after the report: the original mail comes last. */
export async function readReturnedMail(raw: Buffer): Promise<ReturnedMail> {
  const { simpleParser } = await import('mailparser');
  const mail = await simpleParser(raw, cheap);
  const feedback = partOf(mail, ['message/feedback-report']);
  if (feedback !== null) {
    const type = readFieldBlocks(feedback)[0]?.get('feedback-type');
    return { kind: 'complaint', feedback_type: cleanRemoteText(type ?? '').toLowerCase() };
  }
  const status = partOf(mail, DELIVERY_STATUS);
  const recipients = status === null ? plainReport(mail) : readFieldBlocks(status).flatMap(reportedRecipient);
  if (recipients.length > 0) return { kind: 'report', recipients };
  return { kind: isAutoReply(mail) ? 'auto_reply' : 'other' };
}

function partOf(mail: ParsedMail, types: readonly string[]): string | null {
  const part = mail.attachments.find(({ contentType }) => types.includes(String(contentType).toLowerCase()));
  return part ? part.content.toString() : null;
}

/** Blocks of fields with empty lines between them (RFC 3464 section 2.1); names in lower case, values unfolded. */
export function readFieldBlocks(text: string): Fields[] {
  const blocks: Map<string, string>[] = [];
  let fields = new Map<string, string>();
  let name = '';
  for (const line of `${text}\n`.split(/\r?\n/)) {
    const field = /^([\w-]+)[ \t]*:(.*)$/.exec(line);
    if (/^[ \t]+\S/.test(line)) {
      const value = fields.get(name) ?? '';
      if (name && value.length < MOST_OF_A_FIELD) fields.set(name, `${value} ${line.trim()}`.trim());
    } else if (field?.[1]) {
      name = field[1].toLowerCase();
      fields.set(name, (field[2] ?? '').trim());
    } else {
      if (fields.size > 0) blocks.push(fields);
      fields = new Map();
      name = '';
    }
  }
  return blocks;
}

function reportedRecipient(fields: Fields): ReportedRecipient[] {
  const action = ACTIONS.find(
    (known) =>
      known ===
      fields
        .get('action')
        ?.toLowerCase()
        .split(/[\s(;]/)[0],
  );
  if (!action) return [];
  const diagnostic = afterType(fields.get('diagnostic-code'));
  return [
    {
      action,
      status: statusIn(fields.get('status') ?? '') ?? statusIn(diagnostic ?? ''),
      diagnostic,
      addresses: ['final-recipient', 'original-recipient'].flatMap((name) => {
        const address = afterType(fields.get(name))?.replace(/^<|>$/g, '').toLowerCase();
        return address ? [address] : [];
      }),
    },
  ];
}

/** `smtp; 550 no` is `550 no`; RFC 3464 section 2.1.2. */
function afterType(value: string | undefined): string | null {
  if (value === undefined) return null;
  return cleanRemoteText(value.replace(/^[\w-]+[ \t]*;/, '')) || null;
}

function statusIn(text: string): string | null {
  return /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(text)?.[0] ?? null;
}

/** Text-only reports, which name failures only: qmail, and Exim before it supported RFC 3464. */
function plainReport(mail: ParsedMail): ReportedRecipient[] {
  const text = mail.text ?? '';
  const failed = (address: string, said: string): ReportedRecipient => ({
    action: 'failed',
    status: statusIn(said),
    diagnostic: cleanRemoteText(said) || null,
    addresses: [address.toLowerCase()],
  });
  const exim = mail.headerLines.find(({ key }) => key === 'x-failed-recipients');
  if (exim) {
    const said = /(?:^|[\s:])([45]\d\d[ -].*)$/m.exec(text)?.[1] ?? '';
    return exim.line
      .slice(exim.line.indexOf(':') + 1)
      .split(',', MOST_PARAGRAPHS)
      .map((address) => failed(address.trim(), said));
  }
  if (!QMAIL.test(text.slice(0, 1000))) return [];
  return text.split(/\r?\n\r?\n/, MOST_PARAGRAPHS).flatMap((paragraph) => {
    const [, address, said] = /^<([^<>\s]{3,320})>:\r?\n([\s\S]+)$/.exec(paragraph) ?? [];
    return address === undefined ? [] : [failed(address, said ?? '')];
  });
}

/** RFC 3834 section 5, the headers used before it, and the subjects of servers that send neither. */
function isAutoReply(mail: ParsedMail): boolean {
  const headerValue = (name: string) => {
    const line = mail.headerLines.find(({ key }) => key === name)?.line;
    return (
      line
        ?.slice(line.indexOf(':') + 1)
        .trim()
        .toLowerCase() ?? null
    );
  };
  const submitted = headerValue('auto-submitted');
  if (submitted !== null) return submitted.split(/[\s;(]/)[0] !== 'no';
  if (['x-autoreply', 'x-autorespond', 'x-autoresponder'].some((name) => headerValue(name) !== null)) return true;
  if (/^(?:auto_reply|bulk|junk)$/.test(headerValue('precedence') ?? '')) return true;
  return OUT_OF_OFFICE.test(mail.subject ?? '');
}
