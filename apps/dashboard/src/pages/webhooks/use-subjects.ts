import { useQuery } from '@tanstack/react-query';
import { loadInChunks } from '../../api/load-in-chunks.ts';
import { client, type Outputs, trpc } from '../../api/trpc.ts';

export type Subject = NonNullable<NonNullable<Outputs['events']['byId'][number]>['data']['email']>;

/** Returns the email that each event is about, by event ID, as far as it is loaded. */
export function useSubjects(event_ids: readonly string[]): ReadonlyMap<string, Subject> {
  const { data = [] } = useQuery({
    queryKey: [...trpc.events.byId.queryKey(), event_ids],
    queryFn: () => loadInChunks(event_ids, (ids) => client.events.byId.query({ ids })),
    enabled: event_ids.length > 0,
    placeholderData: (before) => before,
    // An event never changes.
    staleTime: 'static',
  });
  return new Map(data.flatMap((event) => (event?.data.email ? [[event.id, event.data.email] as const] : [])));
}
