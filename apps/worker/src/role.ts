import { runAll, type Services } from '@postrider/core';
import { recordCapture } from '@postrider/core/captures';
import type { Mailers } from '@postrider/core/delivery';
import { reconcileDeliveries } from '@postrider/core/delivery';
import { createMailer, type Mailer, startCaptureServer } from '@postrider/mail';
import { jobHandlers } from './handlers.ts';
import { startDeliveryPump } from './pump.ts';
import { every } from './schedules.ts';

const RECONCILE_MS = 20_000;
// What is still open after the pump has stopped is past the dot and recorded; its session ends with the process.
const CLOSE_MS = 1000;

export interface WorkerRole {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Egress: sends what is due, retries it, and does the chores. Runs beside any number of its like. */
export function createRole(services: Services): WorkerRole {
  const stops: (() => Promise<void>)[] = [];
  return {
    async start() {
      const { mailers, stop } = await openMailers(services);
      stops.unshift(stop);
      const pump = startDeliveryPump(services, mailers);
      stops.unshift(() => pump.stop());
      await services.jobs.listen();
      for (const [name, handler] of jobHandlers(services)) await services.jobs.work(name, handler);
      const reconciler = every(RECONCILE_MS, () => reconcileDeliveries(services), services);
      stops.unshift(() => reconciler.stop());
    },
    stop: () => runAll('the worker', stops.splice(0)),
  };
}

/**
 * Sandbox keys, and every key with DELIVERY=capture, send over SMTP into a simulator of this worker's own
 * on a loopback port; other mail takes the configured transports.
 */
async function openMailers(services: Services): Promise<{ mailers: Mailers; stop(): Promise<void> }> {
  const { config } = services;
  const helo_name = config.HELO_NAME ?? 'localhost';
  const simulator = await startCaptureServer({
    host: '127.0.0.1',
    port: 0,
    on_mail: (mail) => recordCapture(services, mail),
  });
  const sandbox = createMailer({
    helo_name,
    transports: [
      { host: '127.0.0.1', port: simulator.port, secure: false, tls: 'none', max_connections: 10, lane_by: 'domain' },
    ],
  });
  const relays = config.DELIVERY.filter((transport) => transport.kind === 'smtp');
  const live: Mailer =
    relays.length === 0
      ? sandbox
      : createMailer({
          helo_name,
          transports: relays.map(({ host, port, secure, user, pass }) => ({
            host,
            port,
            secure,
            tls: 'opportunistic' as const,
            max_connections: 20,
            ...(user !== '' && { user, pass }),
          })),
        });
  return {
    mailers: { sandbox, live },
    async stop() {
      const closed = Promise.all([live, sandbox].map((mailer) => mailer.stop())).then(() => simulator.stop());
      const { promise: waited, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, CLOSE_MS);
      await Promise.race([closed, waited]);
      clearTimeout(timer);
    },
  };
}
