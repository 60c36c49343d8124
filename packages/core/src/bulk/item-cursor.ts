import type { Context } from '../operation/context.ts';
import { type CursorScope, readCursor } from '../paging/list.ts';

export function cursorScope(
  { secret_key }: Context,
  list: string,
  workspace_id: string,
  filters: unknown,
): CursorScope {
  return { secret_key, list, workspace_id, filters };
}

/** Returns the position of the last item on the previous page; 0 for the first page. */
export function placeInCursor(scope: CursorScope, cursor: string | undefined): number {
  return Number(readCursor(scope, cursor) ?? 0);
}

export function placeAsText({ place }: { readonly place: number }): string {
  return String(place);
}
