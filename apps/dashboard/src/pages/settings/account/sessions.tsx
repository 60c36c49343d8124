import { useMutation, useQuery } from '@tanstack/react-query';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { List } from '../../../parts/list.tsx';
import { Panel } from '../../../parts/page.tsx';
import { ErrorPanel, QueryView } from '../../../parts/states.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { words } from './strings.ts';

type Session = Outputs['people']['sessions'][number];
const text = words.sessions;

/** The places where the user is signed in. */
export function Sessions() {
  const sessions = useQuery(trpc.people.sessions.queryOptions({}));
  const refetch = { onSettled: () => sessions.refetch() };
  const end = useMutation(trpc.people.endSession.mutationOptions(refetch));
  const endOthers = useMutation(trpc.people.endOtherSessions.mutationOptions(refetch));
  const error = end.error ?? endOthers.error;
  const has_others = sessions.data?.some(({ current }) => !current) === true;
  return (
    <Panel
      title={text.title}
      bare
      actions={
        has_others && (
          <Button busy={endOthers.isPending} onClick={() => endOthers.mutate({})}>
            {text.endOthers}
          </Button>
        )
      }
    >
      {error !== null && <ErrorPanel error={error} />}
      <QueryView query={sessions}>
        {(rows) => (
          <List<Session>
            label={text.title}
            rows={rows}
            idOf={({ id }) => id}
            nameOf={(row) => nameOf(row)}
            columns={[
              {
                name: text.device,
                show: (row) => (
                  <span title={row.user_agent ?? ''}>
                    {nameOf(row)} {row.current && <span className="chip">{text.current}</span>}
                  </span>
                ),
              },
              { name: text.address, less: true, show: ({ address }) => address ?? text.unknown },
              { name: text.method, width: 'fit', less: true, show: ({ method }) => text.methods[method] },
              { name: text.lastUsed, width: 'fit', show: ({ last_used_at }) => <RelativeTime at={last_used_at} /> },
              {
                name: text.actions,
                width: 'fit',
                end: true,
                show: (row) =>
                  !row.current && (
                    <Button
                      busy={end.isPending && end.variables.session_id === row.id}
                      onClick={() => end.mutate({ session_id: row.id })}
                    >
                      {text.end}
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </QueryView>
    </Panel>
  );
}

function nameOf({ device }: Session): string {
  return device ?? text.unknownDevice;
}
