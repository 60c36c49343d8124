import { runAll, runTogether, type Services } from '@postrider/core';
import { BACKLOG_MS, refreshBacklog } from '@postrider/core/backlog';
import { reconcileBulk } from '@postrider/core/bulk';
import { createMailers, type Mailers, newWalk, reconcileDeliveries, stopMailers } from '@postrider/core/delivery';
import { deleteUnkeptContents } from '@postrider/core/messages';
import { egressOf, reconcileWebhooks } from '@postrider/core/webhooks';
import {
  openWorkerMetrics,
  repeatEvery,
  startDeliveryPump,
  startHoldCache,
  startWebhookPump,
} from '@postrider/dispatch';
import { createHttpGuard } from '@postrider/net';
import { startHandledJobs } from './handled-jobs.ts';
import { openSimulator } from './simulator.ts';

const RECONCILE_MS = 20_000;
// Sessions still open after the pump has stopped are past the end of DATA and recorded; they end with the process.
const CLOSE_MS = 200;

export interface WorkerRole {
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface WorkerSeams {
  /** The port of the inbound role in this process. */
  readonly inbound_port?: number | null;
  /** Services whose connections allow long statements. Defaults to the role's own services. */
  readonly task_services?: Services;
}

/**
 * Creates the egress role, which sends and retries due messages and runs the periodic tasks. Any number of workers may
 * run concurrently.
 */
export function createRole(services: Services, seams: WorkerSeams = {}): WorkerRole {
  const task_services = seams.task_services ?? services;
  const stops: (() => Promise<unknown>)[] = [];
  return {
    async start() {
      const { mailers, stop } = await openMailers(services, seams.inbound_port ?? null);
      stops.unshift(stop);
      const http = createHttpGuard(egressOf(services.config));
      stops.unshift(() => http.stop());
      const holds = startHoldCache(services);
      stops.unshift(() => holds.stop());
      const metrics = await openWorkerMetrics(services);
      stops.unshift(() => metrics.stop());
      const pump = startDeliveryPump(services, mailers, holds, metrics);
      const webhooks = startWebhookPump(services, http, holds, metrics);
      // Both pumps stop concurrently because each may take the whole grace period.
      const works: { stop(): Promise<unknown> }[] = [pump, webhooks];
      stops.unshift(() =>
        runTogether(
          'the works',
          works.map((work) => () => work.stop()),
        ),
      );
      await services.jobs.listen();
      await pump.announced();
      await holds.ready;
      works.push(startHandledJobs(task_services, metrics, holds));
      const walk = newWalk();
      works.push(
        repeatEvery(RECONCILE_MS, () => reconcileDeliveries(task_services, walk), services),
        repeatEvery(RECONCILE_MS, () => reconcileWebhooks(task_services), services),
        repeatEvery(RECONCILE_MS, () => reconcileBulk(task_services), services),
        repeatEvery(RECONCILE_MS, () => deleteUnkeptContents(task_services), services),
        repeatEvery(BACKLOG_MS, () => refreshBacklog(task_services), services),
      );
    },
    stop: () => runAll('the worker', stops.splice(0)),
  };
}

/** Opens the mailers and, on a loopback port of this worker, the simulator that receives some of their messages. */
async function openMailers(
  services: Services,
  inbound_port: number | null,
): Promise<{ mailers: Mailers; stop(): Promise<void> }> {
  const simulator = await openSimulator(services, inbound_port);
  const mailers = createMailers(services, { host: simulator.host, port: simulator.port });
  return {
    mailers,
    async stop() {
      const closed = stopMailers(mailers).then(() => simulator.stop());
      const { promise: waited, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, CLOSE_MS);
      await Promise.race([closed, waited]);
      clearTimeout(timer);
    },
  };
}
