import type { AddressObject } from 'mailparser';
import { canonicalDomain } from '../address/address.ts';
import { formatMailbox } from '../address/format-mailbox.ts';
import { fieldText } from '../parsing/field-text.ts';
import { carriedParts } from './carried-parts.ts';
import { parseMail, type ReadMail } from './parsed-mail.ts';
import { Refusal } from './refusal.ts';

/** A submitted message as fields of a send request, or the reason why it cannot be carried unchanged. */
export type SubmissionResult =
  | {
      readonly kind: 'fields';
      readonly fields: Readonly<Record<string, unknown>>;
      readonly idempotency_key: string | null;
    }
  | { readonly kind: 'refused'; readonly why: string };

/** The service generates these fields for every copy, so the values from the program are replaced. */
const REPLACED = ['date', 'received', 'return-path', 'mime-version', 'dkim-signature', 'message-id'];
/** Header fields that become fields of a send request. */
const FIELDS = ['from', 'to', 'cc', 'bcc', 'subject', 'reply-to', 'sender'];
const OWN = ['x-tags', 'x-metadata', 'x-scheduled-at', 'x-priority-class', 'idempotency-key'];
/**
 * If a message repeats one of these fields, a mail client may use a different value than the service carries. Several
 * X-Tags headers are combined.
 */
const ONCE = ['from', 'sender', 'reply-to', 'subject', ...OWN.filter((name) => name !== 'x-tags')];

/** Converts MIME to fields. Anything that the fields cannot express is rejected by name, never dropped. */
export async function readSubmission(raw: Buffer, recipients: readonly string[]): Promise<SubmissionResult> {
  const mail = await parseMail(raw);
  try {
    refuseSpaced(raw);
    return fieldsOf(mail, raw, recipients);
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', why: error.message };
    throw error;
  }
}

function fieldsOf(mail: ReadMail, raw: Buffer, recipients: readonly string[]): SubmissionResult {
  refuseTwice(mail);
  const { html, text, attachments } = carriedParts(mail, raw);
  const { from, ...people } = addressFieldsOf(mail, recipients);
  const headers = headersOf(mail);
  const metadata = metadataOf(mail);
  const tags = headerTexts(mail, 'x-tags').flatMap((line) => line.split(',').map((tag) => tag.trim()));
  const [subject, scheduled_at, priority, idempotency_key] = [
    mail.headers.get('subject'),
    headerText(mail, 'x-scheduled-at'),
    headerText(mail, 'x-priority-class'),
    headerText(mail, 'idempotency-key'),
  ];
  return {
    kind: 'fields',
    idempotency_key,
    fields: {
      from,
      ...people,
      subject: typeof subject === 'string' ? subject : '',
      ...(html !== null && { html }),
      ...(text !== null && { text }),
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(Object.keys(metadata).length > 0 && { metadata }),
      ...(attachments.length > 0 && { attachments }),
      ...(tags.length > 0 && { tags: tags.filter((tag) => tag !== '') }),
      ...(scheduled_at !== null && { scheduled_at }),
      ...(priority !== null && { priority }),
    },
  };
}

function refuseTwice({ headerLines }: ReadMail): void {
  const keys = headerLines.map(({ key }) => key);
  const repeated = ONCE.find((name) => keys.indexOf(name) !== keys.lastIndexOf(name));
  if (repeated) throw new Refusal(`the field ${repeated} is set twice`);
}

/**
 * Rejects a space before the colon of a field. Mail clients differ on whether such a line is a field, and the parser
 * treats a first line `From :` as the first line of an mbox file.
 */
function refuseSpaced(raw: Buffer): void {
  const ends = [raw.indexOf('\n\r\n'), raw.indexOf('\n\n')].filter((at) => at >= 0);
  const head = raw.toString('latin1', 0, Math.min(raw.length, ...ends));
  const spaced = /^([^\s:]+)[ \t]+:/m.exec(head)?.[1];
  if (spaced !== undefined) {
    throw new Refusal(`the field "${spaced}" has a space before its colon`);
  }
}

/**
 * Returns the address fields of a send request: the envelope determines who receives the message, and the header fields
 * determine who is shown.
 */
function addressFieldsOf(mail: ReadMail, recipients: readonly string[]) {
  const from = addressesOf(mail, 'from');
  const [sender] = from;
  if (!sender) throw new Refusal('the field From is missing');
  if (from.length > 1) throw new Refusal('From names two senders; name one');
  const writer = headerAddress(mail, 'sender');
  if (writer !== null && plain(writer) !== plain(sender.address)) {
    throw new Refusal('Sender differs from From; omit it');
  }
  const reply_to = addressesOf(mail, 'reply-to');
  if (reply_to.length > 1) throw new Refusal('Reply-To has two addresses; use one');
  const [to, cc] = [addressesOf(mail, 'to'), addressesOf(mail, 'cc')];
  const unread = [...to, ...cc].find(({ address }) => address === '');
  if (unread) throw new Refusal(`"${unread.name}" in To or Cc is not a valid address`);
  const by_address = new Map(recipients.map((address) => [plain(address), address]));
  const visible_addresses = new Set([...to, ...cc].map(({ address }) => plain(address)));
  const stranger = [...to, ...cc].find(({ address }) => !by_address.has(plain(address)));
  if (stranger) {
    throw new Refusal(`${stranger.address} is in To or Cc but not a recipient; send one message to all of them`);
  }
  const bcc = [...by_address].filter(([address]) => !visible_addresses.has(address)).map(([, address]) => address);
  if (to.length === 0) throw new Refusal('the field To is empty; add at least one recipient');
  const [reply] = reply_to;
  return {
    from: text(sender),
    to: to.map(text),
    ...(cc.length > 0 && { cc: cc.map(text) }),
    ...(bcc.length > 0 && { bcc }),
    ...(reply && { reply_to: text(reply) }),
  };
}

function headerAddress(mail: ReadMail, name: string): string | null {
  const value = mail.headers.get(name);
  return typeof value === 'object' && value !== null && 'value' in value && Array.isArray(value.value)
    ? (value.value[0]?.address ?? null)
    : null;
}

interface Person {
  readonly name: string;
  readonly address: string;
}

function addressesOf({ headers }: ReadMail, name: string): Person[] {
  // The parser returns these fields as an address object, or as a list of address objects if a field is repeated.
  const field = headers.get(name) as AddressObject | AddressObject[] | undefined;
  return [field ?? []]
    .flat()
    .flatMap(({ value }) => value.flatMap((entry) => entry.group ?? [entry]))
    .map((entry) => ({ name: entry.name, address: entry.address ?? '' }));
}

function text({ name, address }: Person): string {
  return name === '' ? address : formatMailbox({ name, email: address });
}

/** Returns the canonical spelling in which addresses are compared, because a program may write a domain in two ways. */
function plain(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  return (address.slice(0, at) + (canonicalDomain(address.slice(at)) ?? address.slice(at))).toLowerCase();
}

/** Returns the header fields that a send request carries unchanged. Repeated fields cannot be represented. */
function headersOf(mail: ReadMail): Record<string, string> {
  const headers: Record<string, string> = {};
  const names = new Set<string>();
  for (const { key, line } of mail.headerLines) {
    if (REPLACED.includes(key) || FIELDS.includes(key) || OWN.includes(key) || key.startsWith('content-')) continue;
    if (names.has(key)) throw new Refusal(`the field ${key} is set twice`);
    if (key === '__proto__') throw new Refusal('the field __proto__ cannot be kept; remove it');
    names.add(key);
    headers[line.slice(0, line.indexOf(':'))] = fieldText(line);
  }
  return headers;
}

/**
 * Returns metadata with the program's own Message-ID, which is stored for the log because the service gives every copy
 * a new Message-ID.
 */
function metadataOf(mail: ReadMail): Record<string, unknown> {
  const header = headerText(mail, 'x-metadata');
  let metadata: Record<string, unknown> = {};
  if (header !== null) {
    const parsed = parseJson(header);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
      throw new Refusal('X-Metadata is not a JSON object such as {"order":"1815"}');
    }
    metadata = { ...parsed };
  }
  const message_id = headerText(mail, 'message-id');
  return message_id === null ? metadata : { message_id, ...metadata };
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

function headerText(mail: ReadMail, name: string): string | null {
  return headerTexts(mail, name)[0] ?? null;
}

function headerTexts({ headerLines }: ReadMail, name: string): string[] {
  return headerLines.filter(({ key }) => key === name).map(({ line }) => fieldText(line));
}
