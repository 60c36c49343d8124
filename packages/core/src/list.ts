import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { AppError } from './errors.ts';

const DEFAULT_LIMIT = 20;
const MOST = 100;

export interface List<T> {
  readonly object: 'list';
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

const limitMessage = `limit must be a whole number from 1 to ${MOST}.`;

/** limit and cursor as every list takes them, in a query string or typed. */
export const pageFields = {
  limit: z
    .union(
      [
        z.int(),
        z
          .string()
          .regex(/^\d{1,3}$/)
          .transform(Number),
      ],
      { error: limitMessage },
    )
    .refine((limit) => limit >= 1 && limit <= MOST, { message: limitMessage, params: { reason: 'invalid_limit' } })
    .default(DEFAULT_LIMIT),
  cursor: z.string().max(500).optional(),
};

/** A cursor is the last id of a page, signed together with the list, the workspace and the filters it belongs to. */
export interface CursorScope {
  readonly secret_key: string;
  readonly list: string;
  readonly workspace_id: string;
  readonly filters: unknown;
}

function signature(scope: CursorScope, position: string): Buffer {
  const bound = JSON.stringify([scope.list, scope.workspace_id, scope.filters, position]);
  return createHmac('sha256', `cursor ${scope.secret_key}`).update(bound).digest().subarray(0, 16);
}

export function writeCursor(scope: CursorScope, position: string): string {
  return Buffer.concat([signature(scope, position), Buffer.from(position)]).toString('base64url');
}

export function readCursor(scope: CursorScope, cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const bytes = Buffer.from(cursor, 'base64url');
  const position = bytes.subarray(16).toString();
  if (bytes.length > 16 && timingSafeEqual(bytes.subarray(0, 16), signature(scope, position))) return position;
  throw new AppError(
    'invalid_cursor',
    'cursor was not issued for this list with these filters; start again without it.',
    {
      details: [{ param: 'cursor', reason: 'invalid_cursor', message: 'Start again without it.' }],
    },
  );
}

/** Turns limit + 1 rows into a page: the extra row only tells that there is more. */
export function pageOf<R extends { readonly id: string }, T>(
  scope: CursorScope,
  rows: readonly R[],
  limit: number,
  entry: (row: R) => T,
): List<T> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const has_more = rows.length > limit;
  return {
    object: 'list',
    data: shown.map(entry),
    has_more,
    next_cursor: has_more && last ? writeCursor(scope, last.id) : null,
  };
}
