import type { Attachment, StructuredHeader } from 'mailparser';
import type { Part, ReadMail } from './parsed-mail.ts';
import { Refusal } from './refusal.ts';

interface MailParts {
  readonly html: string | null;
  readonly text: string | null;
  readonly attachments: readonly {
    readonly filename: string;
    readonly content: string;
    readonly content_type: string;
    readonly content_id?: string;
  }[];
}

/** Parts that are covered by a signature, that only the recipient can read, or that are messages themselves. */
const SEALED =
  /^(?:multipart\/(?:signed|encrypted)|application\/(?:x-)?pkcs7-(?:mime|signature)|application\/pgp-encrypted|message\/.+)$/;
/** Container types that a message can be rebuilt from. */
const CONTAINERS = ['multipart/mixed', 'multipart/alternative', 'multipart/related'];
const TOKEN = /^[\w!#$&^.+-]+$/;

interface Leaf {
  readonly part: Part;
  readonly alternatives: readonly Part[];
}

/**
 * Returns the parts of a message as fields of a send request. Throws for a structure that the fields cannot express.
 */
export function carriedParts({ structure, attachments }: ReadMail, raw: Buffer): MailParts {
  const leaves = leavesOf(structure, []);
  const bodies = leaves.filter(({ part }) => !part.isAttachment);
  const plain = onlyBody(bodies, 'text/plain');
  const html = onlyBody(bodies, 'text/html');
  if (plain && html && !plain.alternatives.some((one) => html.alternatives.includes(one))) {
    throw new Refusal('its text and HTML are not alternatives; put both into one multipart/alternative, or attach one');
  }
  for (const one of [plain, html]) if (one) refuseUndecoded(one.part, raw);
  const inline_cids = cidsOf(html?.part.textContent ?? '');
  const parts = new Map(leaves.map(({ part }) => [part.headers, part]));
  return {
    html: html?.part.textContent ?? null,
    text: plain?.part.textContent ?? null,
    attachments: attachments.map((attachment, index) => ({
      filename: attachment.filename ?? `attachment-${index + 1}`,
      content: attachment.content.toString('base64'),
      content_type: typeOf(attachment, parts.get(attachment.headers)),
      ...(attachment.cid !== undefined &&
        (attachment.related || inline_cids.has(attachment.cid)) && { content_id: attachment.cid }),
    })),
  };
}

function leavesOf(part: Part, alternatives: readonly Part[]): Leaf[] {
  const type = part.contentType || 'text/plain';
  const is_container = CONTAINERS.includes(type);
  if (SEALED.test(type) || (type.startsWith('multipart/') && !is_container)) throw unlike(`a part of type ${type}`);
  if (is_container) {
    const enclosing = type === 'multipart/alternative' ? [...alternatives, part] : alternatives;
    for (const child of type === 'multipart/alternative' ? part.children : []) {
      if (child.isAttachment) throw unlike(`an alternative of type ${child.contentType}`);
    }
    return part.children.flatMap((child) => leavesOf(child, enclosing));
  }
  // An attached calendar is a file; anywhere else, the recipient's mail client acts on the calendar.
  if (type === 'text/calendar' && structuredField(part, 'content-disposition')?.value !== 'attachment') {
    throw unlike('a part of type text/calendar that is not an attachment');
  }
  return [{ part, alternatives }];
}

function unlike(part: string): Refusal {
  return new Refusal(`${part} cannot be carried unchanged; send it through a relay`);
}

/**
 * Returns the body of a type, and throws if there are several. Blank bodies, for example after an attachment, carry no
 * meaning and do not count if there is another body.
 */
function onlyBody(bodies: readonly Leaf[], type: string): Leaf | undefined {
  const all = bodies.filter(({ part }) => part.contentType === type);
  const texts = all.filter(({ part }) => part.textContent?.trim());
  if (texts.length > 1) {
    throw new Refusal(
      `it has ${texts.length} bodies of type ${type}, which would be joined; keep one, or attach the rest`,
    );
  }
  return texts[0] ?? all[0];
}

/** Rejects text that does not match its declared charset, because it would arrive garbled. */
function refuseUndecoded({ contentType, charset, textContent = '' }: Part, raw: Buffer): void {
  if (charset) {
    try {
      new TextDecoder(charset);
    } catch {
      throw new Refusal(`the charset ${charset} of its ${contentType} is unknown; use UTF-8`);
    }
  }
  if (!textContent.includes('\uFFFD')) return;
  // The character may also be literal in the text; in base64 the two cannot be told apart.
  if (raw.includes('\uFFFD') || /=EF=BF=BD|^content-transfer-encoding:\s*base64/im.test(raw.toString('latin1'))) return;
  throw new Refusal(`its ${contentType} has bytes that do not match its charset; use UTF-8`);
}

function cidsOf(html: string): ReadonlySet<string> {
  const cids = [...html.matchAll(/\bcid:([^"'\s<>)]{1,300})/gi)].flatMap(([, cid = '']) => [cid, decoded(cid)]);
  return new Set(cids);
}

function decoded(cid: string): string {
  try {
    return decodeURIComponent(cid);
  } catch {
    return cid;
  }
}

/**
 * Returns the type with its parameters, such as the charset and the method of a calendar. The name parameter becomes
 * the filename.
 */
function typeOf({ contentType }: Attachment, part: Part | undefined): string {
  const params = Object.entries((part && structuredField(part, 'content-type')?.params) ?? {});
  const rest = params.filter(([name]) => name !== 'name' && name !== 'boundary');
  const type = (part?.contentType || contentType).toLowerCase();
  return [type, ...rest.map(([name, value]) => `${name}=${TOKEN.test(value) ? value : `"${value}"`}`)].join('; ');
}

function structuredField({ headers }: Part, name: string): StructuredHeader | null {
  const field = headers.get(name);
  return typeof field === 'object' && field !== null && 'params' in field ? (field as StructuredHeader) : null;
}
