import { type SmtpSink, startSmtpSink } from '@postrider/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSessionPool } from './session-pool.ts';

let sinks: SmtpSink[];
beforeAll(async () => {
  sinks = [await startSmtpSink(), await startSmtpSink()];
});
afterAll(() => Promise.all(sinks.map((sink) => sink.stop())));

it('connection pools that share a limit keep no more sessions than the limit, and return their share', async () => {
  const counter = { count: 0, most: 1 };
  const pools = sinks.map(({ host, port }) =>
    createSessionPool({
      routes: () => ({
        ranked: [{ host, port, secure: false, tls: 'none', checked: false, tls_policy: 'none' }],
        notes: [],
      }),
      pipelines: true,
      helo_name: 'mail.sender.test',
      max_connections: 2,
      laneOf: (to) => to,
      kept: counter,
    }),
  );
  const mail = { from: 'a@sender.test', to: 'b@good.test' };
  const signal = new AbortController().signal;

  for (const pool of [...pools, ...pools]) await pool.send(mail, Buffer.from('Subject: x\r\n\r\n'), signal);

  expect(sinks.map((sink) => sink.connections())).toEqual([1, 2]);
  expect(counter.count).toBe(1);
  await Promise.all(pools.map((pool) => pool.stop()));
  expect(counter.count).toBe(0);
  expect(pools.map((pool) => pool.isEmpty())).toEqual([true, true]);
});
