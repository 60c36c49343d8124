import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { arrival, type Flow, measureFlow, stopAll } from '../measure/flow.ts';
import { startSinkProcess } from '../receivers/sink-process.ts';
import { findProgram, type Postfix, startPostfix } from './postfix.ts';

interface PostfixLoad {
  readonly signed: boolean;
  readonly sessions: number;
  readonly bytes: number;
  readonly count: number;
}

/** Measures the flow from smtp-source through Postfix to the receiver. */
export async function flowThroughPostfix({ signed, sessions, bytes, count }: PostfixLoad): Promise<Flow> {
  const sink = await startSinkProcess();
  const postfix = await startPostfix(sink.port, signed);
  const warm = Math.ceil(count / 10);
  try {
    await feed(postfix, sessions, bytes, warm);
    await arrival(sink, warm);
    return await measureFlow(sink, postfix.pids, async () => {
      await feed(postfix, sessions, bytes, count);
      return count;
    });
  } finally {
    await stopAll([postfix, sink]);
  }
}

async function feed({ port }: Postfix, sessions: number, bytes: number, count: number): Promise<void> {
  const people = ['-f', 'app@mail.example.com', '-t', 'ada@rcpt.test'];
  const amount = ['-d', '-s', String(sessions), '-m', String(count), '-l', String(bytes)];
  const child = spawn(findProgram('smtp-source') ?? 'smtp-source', [...amount, ...people, `127.0.0.1:${port}`]);
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`smtp-source ended with ${code}`);
}
