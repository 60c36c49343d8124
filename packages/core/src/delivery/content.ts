import type { Services } from '../context.ts';
import { type Rendered, renderMessage } from './render.ts';
import { type Body, type DeliveryRow, loadBodies, type RecipientKey } from './store.ts';

// Up to this size the bodies of a whole fetch are read at once: 200 of them take 50 MB at the most. Larger
// ones are read one by one, when they are about to be sent.
const READ_TOGETHER_BYTES = 256 * 1024;

/** The bytes of one message, shared by its recipients. */
export interface Content {
  /** Worth a turn of its own: sending many at once would fill the memory. */
  readonly large: boolean;
  /** Rendered when the first recipient needs it, and kept only while a sender holds it. */
  raw(): Promise<Buffer>;
}

/** The body was deleted while its message was still open. */
export class ContentGone extends Error {
  constructor() {
    super('the content of the message is no longer stored');
    this.name = 'ContentGone';
  }
}

/** Contents by message id. */
export async function openContents(
  services: Pick<Services, 'sql'>,
  rows: readonly DeliveryRow[],
): Promise<ReadonlyMap<string, Content>> {
  const messages = [...new Map(rows.map((row) => [row.message_id, row])).values()];
  const small = messages.filter((row) => row.body_bytes <= READ_TOGETHER_BYTES);
  const bodies = small.length > 0 ? await loadBodies(services.sql, small) : new Map<string, Body>();
  return new Map(
    messages.map((row) => {
      const large = row.body_bytes > READ_TOGETHER_BYTES;
      return [
        row.message_id,
        content(row, large, large ? () => bodyOf(services, row) : async () => bodies.get(row.message_id)),
      ];
    }),
  );
}

async function bodyOf(services: Pick<Services, 'sql'>, key: RecipientKey): Promise<Body | undefined> {
  return (await loadBodies(services.sql, [key])).get(key.message_id);
}

function content(row: Omit<Rendered, keyof Body>, large: boolean, read: () => Promise<Body | undefined>): Content {
  let kept: WeakRef<Buffer> | null = null;
  let rendering: Promise<Buffer> | null = null;
  const render = async (): Promise<Buffer> => {
    const body = await read();
    if (!body) throw new ContentGone();
    const raw = renderMessage({ ...row, ...body });
    kept = new WeakRef(raw);
    return raw;
  };
  return {
    large,
    async raw() {
      const alive = kept?.deref();
      if (alive) return alive;
      rendering ??= render().finally(() => {
        rendering = null;
      });
      return rendering;
    },
  };
}
