import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

export interface KeysetPage<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** A list procedure, such as `trpc.emails.list`. */
interface ListProcedure<I, T> {
  readonly '~types': { readonly input: I; readonly output: KeysetPage<T> };
}

/** The methods of a list procedure, without the types of its input and rows. */
interface AnyList {
  queryOptions(input: object): {
    readonly queryKey: readonly unknown[];
    readonly queryFn: () => Promise<KeysetPage<unknown>>;
  };
  infiniteQueryOptions(
    input: object,
    options: { readonly getNextPageParam: (page: KeysetPage<unknown>) => string | undefined },
  ): {
    readonly queryKey: readonly unknown[];
    readonly queryFn: () => Promise<KeysetPage<unknown>>;
    readonly initialPageParam: unknown;
    readonly getNextPageParam: (page: KeysetPage<unknown>) => string | undefined;
  };
}

export interface Keyset<T> {
  readonly rows: readonly T[] | undefined;
  readonly error: unknown;
  readonly more: boolean;
  readonly loading: boolean;
  /** The number of new rows. They are shown on request so that rows never move on their own. */
  readonly fresh: number;
  showFresh(): void;
  loadMore(): void;
  refetch(): void;
}

/** Loads a list in keyset pages. Visible rows keep their position, and their contents follow the newest page. */
export function useKeyset<I, T extends { readonly id: string }>(
  list: ListProcedure<I, T>,
  input: Omit<NonNullable<I>, 'cursor'>,
): Keyset<T> {
  // A decorated procedure has these methods, but with types specific to that procedure, which no generic can express.
  const procedure = list as unknown as AnyList;
  const cache = useQueryClient();
  const every = procedure.infiniteQueryOptions(input, {
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  const pages = useInfiniteQuery({
    ...every,
    // Rows stay in place. Updates to them arrive with the newest page.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchInterval: false,
  });
  const newest = useQuery({ ...procedure.queryOptions(input), enabled: pages.data !== undefined });
  const all = pages.data?.pages as readonly KeysetPage<T>[] | undefined;
  const rows = all?.flatMap(({ data }) => data);
  const latest = (newest.data as KeysetPage<T> | undefined)?.data ?? [];
  const updates = new Map(latest.map((row) => [row.id, row]));
  const known = new Set(rows?.map(({ id }) => id));
  const fresh = rows ? latest.filter(({ id }) => !known.has(id)).length : 0;
  const showFresh = () => void cache.resetQueries({ queryKey: every.queryKey });
  // If the list is empty, no row can move.
  const empty = rows?.length === 0 && fresh > 0;
  useEffect(() => {
    if (empty) showFresh();
  });
  return {
    rows: rows?.map((row) => updates.get(row.id) ?? row),
    error: pages.error ?? newest.error,
    more: pages.hasNextPage,
    loading: pages.isFetchingNextPage,
    fresh,
    showFresh,
    loadMore: () => void pages.fetchNextPage(),
    refetch: () => void Promise.all([pages.refetch(), newest.refetch()]),
  };
}

export interface Selection {
  readonly selected: ReadonlySet<string>;
  toggle(id: string): void;
  /** Selects every loaded row, or none if all of them are selected. */
  toggleAll(): void;
  clear(): void;
}

/**
 * Tracks the selected rows of a list, which is named by its search. Rows that are no longer shown are no longer
 * selected, so that no action reaches them.
 */
export function useSelection(list: string, rows: readonly { readonly id: string }[] | undefined): Selection {
  const [selection, setSelection] = useState<{ readonly list: string; readonly ids: ReadonlySet<string> }>({
    list,
    ids: new Set(),
  });
  // Another search starts without a selection, also when it leads back to an earlier one.
  if (selection.list !== list) setSelection({ list, ids: new Set() });
  const ids = (rows ?? []).map(({ id }) => id);
  const selected: ReadonlySet<string> = new Set(ids.filter((id) => selection.list === list && selection.ids.has(id)));
  const replace = (next: Iterable<string>) => setSelection({ list, ids: new Set(next) });
  return {
    selected,
    toggle(id) {
      const next = new Set(selected);
      if (!next.delete(id)) next.add(id);
      replace(next);
    },
    toggleAll: () => replace(selected.size === rows?.length ? [] : ids),
    clear: () => replace([]),
  };
}
