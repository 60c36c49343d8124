import { setTimeout as delay } from 'node:timers/promises';
import { startSink } from '../receivers/sink.ts';
import { arrival } from './flow.ts';
import { processorSeconds } from './processor-time.ts';
import { ascending, percentile } from './statistics.ts';

export interface Entrance {
  /** The processes whose processor time counts. */
  readonly pids?: readonly number[];
  send(subject: string): Promise<void>;
  /** Called when the warm-up is over. */
  warmed?(): Promise<void>;
  stop(): Promise<void>;
}

export interface PacedLoad {
  readonly seconds: number;
  /** Messages per second. */
  readonly pace: number;
  readonly on_mail?: (mail: string) => void;
}

// Warm-up for the JIT compiler, which compiles a function after some thousand calls. Every peer gets the same.
const WARM_COUNT = 3000;
const WARM_PACE = 200;

export interface PacedFlow {
  /** From when a message was due for submission until its last byte reached the receiver. */
  readonly p99_ms: number;
  /** The processor time per message. */
  readonly cpu_us: number;
}

/** Measures messages that are submitted at a steady pace. */
export async function mailLatency(
  { seconds, pace, on_mail }: PacedLoad,
  open: (sink_port: number) => Promise<Entrance>,
): Promise<PacedFlow> {
  const due_at = new Map<string, number>();
  const took_ms: number[] = [];
  const sink = await startSink((mail) => {
    on_mail?.(mail);
    const turn = Number(/^Subject: T(\d+)/m.exec(mail)?.[1]);
    const took = performance.now() - (due_at.get(`T${turn}`) ?? Number.NaN);
    if (turn >= WARM_COUNT) took_ms.push(took);
  });
  const entrance = await open(sink.port);
  const sendPaced = async (from: number, to: number, a_second: number) => {
    const started = performance.now();
    const sends: Promise<void>[] = [];
    for (let turn = from; turn < to; turn++) {
      const due = started + ((turn - from) / a_second) * 1000;
      await delay(Math.max(0, due - performance.now()));
      due_at.set(`T${turn}`, due);
      sends.push(entrance.send(`T${turn}`));
    }
    await Promise.all(sends);
    await arrival(sink, to);
  };
  const count = seconds * pace;
  let used_s = 0;
  try {
    await sendPaced(0, WARM_COUNT, WARM_PACE);
    await entrance.warmed?.();
    const before_s = processorSeconds(entrance.pids ?? []);
    await sendPaced(WARM_COUNT, WARM_COUNT + count, pace);
    used_s = processorSeconds(entrance.pids ?? []) - before_s;
  } finally {
    await entrance.stop();
    await sink.stop();
  }
  return { p99_ms: percentile(ascending(took_ms), 99), cpu_us: (used_s / count) * 1e6 };
}
