import { Link } from '@tanstack/react-router';
import { CircleCheck, CircleStop, CircleX } from 'lucide-react';
import type { Outputs } from '../../../api/trpc.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Id } from '../../../parts/copy.tsx';
import { Facts } from '../../../parts/page.tsx';
import { Notice } from '../../../parts/states.tsx';
import { ExactTime, RelativeTime, spanMs } from '../../../parts/times.tsx';
import { words } from './strings.ts';

export type Worker = Outputs['ops']['workers']['data'][number];

const MIB = 1024 * 1024;
const text = words.workers;

export function memory({ rss_bytes }: Worker): string | null {
  return rss_bytes === null ? null : `${Math.round(rss_bytes / MIB)} MB`;
}

export function stateName({ live, stopped_at }: Worker): string {
  return live ? text.states.live : stopped_at === null ? text.states.lost : text.states.stopped;
}

export function WorkerBadge({ worker }: { readonly worker: Worker }) {
  const { live, stopped_at } = worker;
  const lost = !live && stopped_at === null;
  return (
    <Badge
      tone={live ? 'good' : lost ? 'bad' : 'calm'}
      icon={live ? CircleCheck : lost ? CircleX : CircleStop}
      {...(lost && { title: text.lostAbout })}
    >
      {stateName(worker)}
    </Badge>
  );
}

export function WorkerView({ worker }: { readonly worker: Worker }) {
  const { columns, detail } = text;
  return (
    <>
      {!worker.live && worker.stopped_at === null && (
        <Notice tone="bad">
          <p>{text.lostAbout}</p>
        </Notice>
      )}
      <Facts
        rows={[
          [columns.state, <WorkerBadge key="state" worker={worker} />],
          [detail.version, worker.version],
          [detail.host, worker.host],
          [columns.started, <ExactTime key="started" at={worker.started_at} />],
          [detail.stopped, worker.stopped_at && <ExactTime key="stopped" at={worker.stopped_at} />],
          [columns.heartbeat, <RelativeTime key="heartbeat" at={worker.last_heartbeat_at} />],
          [columns.active, worker.live && text.of(worker.active, worker.concurrency)],
          [columns.memory, memory(worker)],
          [columns.cpu, worker.cpu?.toFixed(2)],
          [columns.delay, worker.loop_delay_p99_ms !== null && spanMs(worker.loop_delay_p99_ms)],
          [detail.pool, worker.pool_waiting === null ? null : String(worker.pool_waiting)],
          [columns.crashes, String(worker.crash_restarts)],
          [detail.id, <Id key="id" id={worker.id} whole />],
        ]}
      />
      {worker.queues.length > 0 && (
        <div className="stack-s">
          <h3>{detail.queues}</h3>
          <p className="muted small">{detail.queuesAbout}</p>
          <ul className="line">
            {worker.queues.map((queue) => (
              <li key={queue}>
                <Link className="button s mono" to="/instance/jobs" search={{ queue, state: 'active' }}>
                  {queue}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
