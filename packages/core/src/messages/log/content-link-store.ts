import type { Sql, Tx } from '@postrider/db';

export interface ContentLink {
  readonly workspace_id: string;
  readonly message_id: string;
  readonly attachment: number | null;
}

export async function insertContentLink(
  tx: Tx,
  link: ContentLink & { readonly token_hash: Buffer; readonly seconds: number },
): Promise<Date> {
  const [row] = await tx<{ expires_at: Date }[]>`
    insert into content_links (token_hash, workspace_id, message_id, attachment, expires_at)
    values (${link.token_hash}, ${link.workspace_id}, ${link.message_id}, ${link.attachment},
      clock_now() + make_interval(secs => ${link.seconds}))
    returning expires_at`;
  if (!row) throw new Error('a link was not stored');
  return row.expires_at;
}

export interface StoredLink extends ContentLink {
  readonly token_hash: Buffer;
  readonly expires_at: Date;
}

/** Consumes a link; returns null if it was already used or has expired. */
export async function takeContentLink(sql: Sql, token_hash: Buffer): Promise<StoredLink | null> {
  const [row] = await sql<StoredLink[]>`
    delete from content_links where token_hash = ${token_hash} and expires_at > clock_now()
    returning token_hash, workspace_id, message_id, attachment, expires_at`;
  return row ?? null;
}

/** Undoes takeContentLink; the link keeps its original expiry. */
export async function returnContentLink(sql: Sql, link: StoredLink): Promise<void> {
  await sql`
    insert into content_links (token_hash, workspace_id, message_id, attachment, expires_at)
    values (${link.token_hash}, ${link.workspace_id}, ${link.message_id}, ${link.attachment}, ${link.expires_at})
    on conflict do nothing`;
}

export async function forgetContentLinks(sql: Sql | Tx): Promise<void> {
  await sql`delete from content_links where expires_at < clock_now()`;
}
