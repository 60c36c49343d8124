import { setTimeout as delay } from 'node:timers/promises';
import { startSink } from '../receivers/sink.ts';
import { arrival } from './flow.ts';
import { ascending, percentile } from './statistics.ts';

export interface Entrance {
  send(subject: string): Promise<void>;
  stop(): Promise<void>;
}

interface PacedLoad {
  readonly seconds: number;
  /** Messages per second. */
  readonly pace: number;
  readonly on_mail?: (mail: string) => void;
}

// Warm-up for the JIT compiler, in seconds; every peer gets the same.
const WARM_S = 3;

/**
 * Returns the p99 latency in milliseconds, from when a message was due for submission until its last byte reached the
 * receiver.
 */
export async function mailLatency(
  { seconds, pace, on_mail }: PacedLoad,
  open: (sink_port: number) => Promise<Entrance>,
): Promise<number> {
  const due_at = new Map<string, number>();
  const took_ms: number[] = [];
  const warm = pace * WARM_S;
  const sink = await startSink((mail) => {
    on_mail?.(mail);
    const turn = Number(/^Subject: T(\d+)/m.exec(mail)?.[1]);
    const took = performance.now() - (due_at.get(`T${turn}`) ?? Number.NaN);
    if (turn >= warm) took_ms.push(took);
  });
  const entrance = await open(sink.port);
  const sendPaced = async (from: number, to: number) => {
    const started = performance.now();
    const sends: Promise<void>[] = [];
    for (let turn = from; turn < to; turn++) {
      const due = started + ((turn - from) / pace) * 1000;
      await delay(Math.max(0, due - performance.now()));
      due_at.set(`T${turn}`, due);
      sends.push(entrance.send(`T${turn}`));
    }
    await Promise.all(sends);
    await arrival(sink, to);
  };
  try {
    await sendPaced(0, warm);
    await sendPaced(warm, warm + seconds * pace);
  } finally {
    await entrance.stop();
    await sink.stop();
  }
  return percentile(ascending(took_ms), 99);
}
