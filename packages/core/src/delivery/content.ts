import { compose, composeSigned, REWRITTEN_BY_RELAYS } from '@postrider/mail';
import type { Services } from '../operation/context.ts';
import { reachStep } from '../process/delivery-steps.ts';
import type { RecipientKey } from '../states/index.ts';
import { type ContentForm, dateOf, formName, outgoing, PLAIN_FORM, type RenderInput } from './render.ts';
import { type Body, type DeliveryRow, type LoadedRow, loadBodies, READ_TOGETHER_BYTES } from './store.ts';

/** The signed bytes of one message, shared by its recipients. */
export interface Content {
  /** Whether the worker has to reserve part of the memory for large emails. */
  readonly large: boolean;
  /**
   * Renders and signs the message in a form on first use; the bytes are retained only while a sender holds them.
   */
  raw(form?: ContentForm): Promise<Buffer>;
}

/** The body was deleted while its message was still open. */
export class ContentDeleted extends Error {
  constructor() {
    super('the content of the message was deleted');
    this.name = 'ContentDeleted';
  }
}

/** The database did not return the body or a key. Nothing was tried, so it does not count as an attempt. */
export class ContentUnread extends Error {
  constructor(cause: unknown) {
    super('the content of the message could not be read', { cause });
    this.name = 'ContentUnread';
  }
}

/** The message could not be signed and is not sent unsigned. An internal fault that may be temporary. */
export class CannotSign extends Error {
  constructor(domain: string, reason: string) {
    super(`the email could not be signed for ${domain}: ${reason}`);
    this.name = 'CannotSign';
  }
}

type Parts = Pick<Services, 'sql' | 'signing_keys'>;
type Signable = Omit<RenderInput, keyof Body> & Pick<DeliveryRow, 'signing_key_ids'>;
type Source = Signable & DeliveryRow;

const NO_BODY = { html: null, text: null, headers: null, attachments: null } as const satisfies Record<
  keyof Body,
  null
>;

/** Returns contents by message id. Never rejects: unreadable content fails when it is used. */
export async function openContents(services: Parts, rows: readonly LoadedRow[]): Promise<ReadonlyMap<string, Content>> {
  await services.signing_keys.warm(rows.flatMap((row) => row.signing_key_ids)).catch(() => undefined);
  const contents = new Map<string, Content>();
  for (const row of rows) {
    const body = takeBody(row);
    if (!contents.has(row.message_id)) contents.set(row.message_id, content(services, row, body));
  }
  return contents;
}

/** Detaches the body from the row, which stays in memory until the result is recorded. */
function takeBody(row: LoadedRow): Body | null {
  const { html, text, headers, attachments } = row;
  Object.assign(row, NO_BODY);
  return headers === null || attachments === null ? null : { html, text, headers, attachments };
}

async function bodyOf(services: Parts, key: RecipientKey): Promise<Body | undefined> {
  const bodies = await loadBodies(services.sql, [key]).catch((error: unknown) => {
    throw new ContentUnread(error);
  });
  return bodies.get(key.message_id);
}

function content(services: Parts, row: Source, stored: Body | null): Content {
  const large = row.body_bytes > READ_TOGETHER_BYTES;
  /** Undefined if the body has to be read from the database. */
  let body = large ? undefined : stored;
  const cached_bytes = new Map<string, WeakRef<Buffer>>();
  const rendering = new Map<string, Promise<Buffer>>();
  const render = async (form: ContentForm): Promise<Buffer> => {
    const bytes = body === undefined ? await bodyOf(services, row) : body;
    if (!bytes) throw new ContentDeleted();
    // A single-recipient message is rarely rendered twice; if it is, the body is read again.
    if (row.recipient_count === 1) body = undefined;
    const raw = await renderSigned(services, row, bytes, form);
    cached_bytes.set(formName(form), new WeakRef(raw));
    return raw;
  };
  return {
    large,
    async raw(form = PLAIN_FORM) {
      const name = formName(form);
      const alive = cached_bytes.get(name)?.deref();
      if (alive) return alive;
      const current = rendering.get(name) ?? render(form).finally(() => rendering.delete(name));
      rendering.set(name, current);
      return current;
    },
  };
}

/**
 * Renders and signs a message. The signature carries the time of the message, so that a retry has the same bytes while
 * the keys are unchanged.
 */
export async function renderSigned(
  services: Pick<Parts, 'signing_keys'>,
  row: Signable,
  body: Body,
  form: ContentForm,
): Promise<Buffer> {
  if (form.signing === 'none') return withAdded(form, compose(outgoing(row, body, form)));
  if (row.signing_key_ids.length === 0)
    throw new CannotSign(
      row.from_domain,
      `the domain is not verified any more, or has no key; repair its records, then POST /v1/domains/${row.from_domain}/verify`,
    );
  const refuse = (error: unknown): never => {
    throw new CannotSign(row.from_domain, error instanceof Error ? error.message : 'the key did not work');
  };
  // Separates a database that is away, which is no attempt, from a key that does not work.
  await services.signing_keys.warm(row.signing_key_ids).catch((error: unknown) => {
    throw new ContentUnread(error);
  });
  const keys = await services.signing_keys.of(row.signing_key_ids).catch(refuse);
  const left_out = form.signing === 'relay_safe' ? REWRITTEN_BY_RELAYS : undefined;
  const signing = composeSigned(outgoing(row, body, form), keys, dateOf(row), left_out);
  reachStep('rendered', row.message_id);
  const raw = await signing.catch(refuse);
  reachStep('signed', row.message_id);
  return withAdded(form, raw);
}

function withAdded({ added }: ContentForm, raw: Buffer): Buffer {
  return added === '' ? raw : Buffer.concat([Buffer.from(added), raw]);
}
