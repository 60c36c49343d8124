import { useQuery } from '@tanstack/react-query';
import { may, useMe } from '../api/me.ts';
import { trpc } from '../api/trpc.ts';
import { words } from './strings.ts';

/** Warns on every page while no worker is sending email. Disappears once a worker is running. */
export function WorkerNotice() {
  const me = useMe();
  const enabled = may(me, 'admin') || may(me, 'operator');
  const health = useQuery(trpc.ops.health.queryOptions({}, { enabled }));
  const absent = health.data?.checks.some(({ name, status }) => name === 'delivery' && status === 'failing') ?? false;
  return (
    <div className={absent ? 'notice-bar' : undefined} role="status">
      {absent && words.noWorker}
    </div>
  );
}
