import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { AppError, type Reason } from '../operation/errors.ts';
import { issueFor, parseInput } from '../operation/parse-input.ts';
import { rootSignature } from '../process/root-signature.ts';

const DEFAULT_LIMIT = 20;
const MAX_PAGE_SIZE = 100;

export interface List<T> {
  readonly object: 'list';
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

// Accepts any value and validates it here, so that every invalid limit gets the same reason; the docs show the
// metadata.
const limitField = (name: string) =>
  z
    .unknown()
    .meta({
      type: 'integer',
      minimum: 1,
      maximum: MAX_PAGE_SIZE,
      default: DEFAULT_LIMIT,
      description: 'Entries per page.',
    })
    .transform((value, context) => {
      const limit = typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : value;
      if (typeof limit === 'number' && Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE_SIZE) return limit;
      context.addIssue(issueFor('invalid_limit', `${name} must be a whole number from 1 to ${MAX_PAGE_SIZE}.`));
      return z.NEVER;
    });

const cursorField = (name: string) =>
  z
    .unknown()
    .meta({ type: 'string', description: 'The next_cursor of the previous page, with the same filters.' })
    .transform((value, context) => {
      if (typeof value === 'string') return value;
      context.addIssue(issueFor('invalid_cursor', `${name} must be one next_cursor of this list.`));
      return z.NEVER;
    });

/** The errors of a list's `limit` and `cursor`. */
export const pageReasons: readonly Reason[] = ['invalid_limit', 'invalid_cursor'];

/** `limit` and `cursor`, which every list accepts, in a query string or as typed values. */
export const pageFields = {
  limit: limitField('limit').default(DEFAULT_LIMIT),
  cursor: cursorField('cursor').optional(),
};

/** `last` and `before`, for a page that ends before a cursor or at the end of the list. */
export const backwardFields = {
  last: limitField('last').default(DEFAULT_LIMIT),
  before: cursorField('before').optional(),
};

/** A cursor is the last id of a page, signed together with its list, workspace and filters. */
export interface CursorScope {
  readonly secret_key: string;
  readonly list: string;
  readonly workspace_id: string;
  readonly filters: unknown;
}

function signature(scope: CursorScope, position: string): Buffer {
  const bound = JSON.stringify([scope.list, scope.workspace_id, scope.filters, position]);
  return rootSignature(scope.secret_key, 'cursor', bound).subarray(0, 16);
}

export function writeCursor(scope: CursorScope, position: string): string {
  return Buffer.concat([signature(scope, position), Buffer.from(position)]).toString('base64url');
}

export function readCursor(scope: CursorScope, cursor: string | undefined, name = 'cursor'): string | null {
  if (cursor === undefined) return null;
  const bytes = Buffer.from(cursor, 'base64url');
  const position = bytes.subarray(16).toString();
  const one_spelling = bytes.toString('base64url') === cursor;
  if (one_spelling && bytes.length > 16 && timingSafeEqual(bytes.subarray(0, 16), signature(scope, position)))
    return position;
  throw new AppError(
    'invalid_cursor',
    `${name} was not issued for this list with these filters; start again without it.`,
    {
      details: [{ param: name, reason: 'invalid_cursor', message: 'Start again without it.' }],
    },
  );
}

const scopes = new WeakMap<object, { readonly scope: CursorScope; readonly placeOf: (id: string) => string }>();

/**
 * Remembers the scope of a list's cursors, for an API that gives every entry a cursor. Lists that are not in id order
 * pass a function that returns the position of an entry.
 */
export function withCursors<T>(
  scope: CursorScope,
  list: List<T>,
  placeOf: (id: string) => string = (id) => id,
): List<T> {
  scopes.set(list, { scope, placeOf });
  return list;
}

/** Returns the cursor of one entry; the page it requests begins after that entry. */
export function cursorOf(list: List<unknown>, id: string): string {
  const known = scopes.get(list);
  if (!known) throw new Error('a list was made without the scope of its cursors');
  return writeCursor(known.scope, known.placeOf(id));
}

const pageSchema = z.object(pageFields);

/** Parses limit and cursor as an API received them, for a page of data that has already been read. */
export function pageInput(raw: { readonly limit: unknown; readonly cursor?: unknown }) {
  const parsed = parseInput(pageSchema, raw);
  if (!parsed.ok) throw parsed.error;
  return parsed.value;
}

/** Returns a page of entries that are already loaded, in id order. */
export function pageWithin<T extends { readonly id: string }>(
  scope: CursorScope,
  entries: readonly T[],
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): List<T> {
  const after = readCursor(scope, cursor);
  const rest = after === null ? entries : entries.filter((entry) => entry.id > after);
  return pageOf(scope, rest, limit, (entry) => entry);
}

/** Returns a page for each of several owners, read together; each has its own cursors. */
export async function pagesOf<R extends { readonly id: string }, T>(
  list: Omit<CursorScope, 'filters'>,
  owners: readonly { readonly id: string; readonly cursor?: string | undefined }[],
  limit: number,
  read: (
    behind: readonly { readonly id: string; readonly behind: string }[],
  ) => Promise<readonly [ReadonlyMap<string, readonly R[]>, (row: R) => T]>,
): Promise<List<T>[]> {
  const lists = owners.map(({ id, cursor }) => {
    const scope = { ...list, filters: { id } };
    return { id, scope, behind: readCursor(scope, cursor) ?? '' };
  });
  const [rows, entry] = await read(lists);
  return lists.map(({ id, scope }) => pageOf(scope, rows.get(id) ?? [], limit, entry));
}

/** Turns limit + 1 rows into a page: the extra row only shows that there are more. */
export function pageOf<R extends { readonly id: string }, T>(
  scope: CursorScope,
  rows: readonly R[],
  limit: number,
  entry: (row: R) => T,
): List<T> {
  return withCursors(
    scope,
    pageByPlace(scope, rows, limit, ({ id }) => id, entry),
  );
}

/** Turns limit + 1 rows into a page as pageOf does, for rows that are not in id order. */
export function pageByPlace<R, T>(
  scope: CursorScope,
  rows: readonly R[],
  limit: number,
  placeOf: (row: R) => string,
  entry: (row: R) => T,
): List<T> {
  const page_rows = rows.slice(0, limit);
  const last = page_rows.at(-1);
  const has_more = rows.length > limit;
  return {
    object: 'list',
    data: page_rows.map(entry),
    has_more,
    next_cursor: has_more && last ? writeCursor(scope, placeOf(last)) : null,
  };
}
