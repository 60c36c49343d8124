import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { connected, type News, useNews } from '../api/live.ts';
import { useStore } from '../api/store.ts';

export interface KeysetPage<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

interface Asking<T> {
  /** Identifies the list and its filters, like a query key. */
  readonly key: readonly unknown[];
  readonly load: (cursor: string | undefined, signal: AbortSignal) => Promise<KeysetPage<T>>;
  readonly idOf: (row: T) => string;
  /** How often the newest page is polled; 0: never. */
  readonly every_ms?: number;
  /** The events after which the newest page is polled; while events arrive, it is polled rarely otherwise. */
  readonly news?: (news: News) => boolean;
}

export interface Keyset<T> {
  readonly rows: readonly T[] | undefined;
  readonly error: unknown;
  readonly more: boolean;
  readonly loading: boolean;
  /** How many rows are new; they are shown on request, so that no row moves by itself. */
  readonly fresh: number;
  showFresh(): void;
  loadMore(): void;
  refetch(): void;
}

const SELDOM_MS = 30_000;
const noNews = () => false;

/** A list by keyset pages. Visible rows keep their position; their contents follow the newest page. */
export function useKeyset<T>({ key, load, idOf, every_ms = 0, news }: Asking<T>): Keyset<T> {
  const cache = useQueryClient();
  const live = useStore(connected);
  const pages = useInfiniteQuery({
    queryKey: [...key, 'pages'],
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  const newest = useQuery({
    queryKey: [...key, 'newest'],
    queryFn: ({ signal }) => load(undefined, signal),
    enabled: every_ms > 0 && pages.data !== undefined,
    refetchInterval: every_ms > 0 ? (live && news ? SELDOM_MS : every_ms) : false,
    staleTime: every_ms / 2,
  });
  useNews(news ?? noNews, () => void newest.refetch());
  const shown = pages.data?.pages.flatMap(({ data }) => data);
  const latest = newest.data?.data ?? [];
  const updates = new Map(latest.map((row) => [idOf(row), row]));
  const known = new Set(shown?.map(idOf));
  const fresh = shown ? latest.filter((row) => !known.has(idOf(row))).length : 0;
  const showFresh = () => {
    void cache.resetQueries({ queryKey: [...key, 'pages'] });
  };
  // If the list is empty, no row can move.
  const empty = shown?.length === 0 && fresh > 0;
  useEffect(() => {
    if (empty) showFresh();
  });
  return {
    rows: shown?.map((row) => updates.get(idOf(row)) ?? row),
    error: pages.error ?? newest.error,
    more: pages.hasNextPage,
    loading: pages.isFetchingNextPage,
    fresh,
    showFresh,
    loadMore: () => void pages.fetchNextPage(),
    refetch: () => void Promise.all([pages.refetch(), every_ms > 0 && newest.refetch()]),
  };
}

/** The ticked rows. */
export function useSelection(): {
  readonly chosen: ReadonlySet<string>;
  toggle(id: string): void;
  replace(ids: Iterable<string>): void;
} {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  return {
    chosen,
    toggle(id) {
      const next = new Set(chosen);
      if (!next.delete(id)) next.add(id);
      setChosen(next);
    },
    replace: (ids) => setChosen(new Set(ids)),
  };
}
