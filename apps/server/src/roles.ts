import { setTimeout as pause } from 'node:timers/promises';
import { AppError, errorBody, newId, type RoleName, runTogether, type Services } from '@postrider/core';
import { createAlarmJudge } from '@postrider/core/alarms';
import { startInstanceWatch } from '@postrider/core/metrics';
import {
  createFeedbackHandler,
  createMalformedHandler,
  createResendHandler,
  createHandler as createRestHandler,
} from '@postrider/rest';
import type { Dashboard } from './dashboard-build.ts';
import { createHealthHandler } from './health.ts';
import { type HttpServer, type Mounts, writeJson } from './http-server.ts';
import { openMetricsEndpoint } from './telemetry/metrics-endpoint.ts';
import { startTelemetry } from './telemetry/start-telemetry.ts';

/** The ports of the non-HTTP listeners. The port of a disabled listener is null. */
export interface ListenerPorts {
  readonly capture: number | null;
  readonly inbound: number | null;
  readonly submission: readonly number[];
  readonly metrics: number | null;
}

export interface RunningRoles {
  readonly ports: ListenerPorts;
  stop(): Promise<void>;
}

/** Starts the roles of this process, and stops them concurrently because each may use the full shutdown time. */
export async function startRoles(
  services: Services,
  http: HttpServer,
  { dashboard, task_services }: { readonly dashboard: Dashboard | null; readonly task_services: Services },
): Promise<RunningRoles> {
  const { config, log } = services;
  const runs = (role: RoleName) => config.ROLES.includes(role);
  // A process with some of the roles starts faster, and takes less memory, without the modules of the others.
  const admin = runs('admin') ? await import('@postrider/admin') : null;
  const started = new Set<RoleName>();
  const stops: (() => Promise<void>)[] = [];
  const listener_stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    const served = started.has('rest') || started.has('admin');
    started.clear();
    const stopListener = async () => {
      // Gives load balancers that poll /readyz time to stop sending traffic.
      if (served) await pause(config.LIMITS.drain);
      await runTogether('the listener', listener_stops.splice(0));
    };
    // A worker counts SHUTDOWN_GRACE from its own stop, so it does not wait for the drain.
    await runTogether('the roles', [stopListener, ...stops.splice(0)]);
  };
  try {
    const inbound = runs('inbound') ? (await import('@postrider/inbound')).createRole(services) : null;
    if (inbound) {
      stops.unshift(() => inbound.stop());
      await inbound.start();
      started.add('inbound');
    }
    if (runs('worker')) {
      const { createRole } = await import('@postrider/worker');
      const worker = createRole(services, { inbound_port: inbound?.inbound_port ?? null, task_services });
      stops.unshift(() => worker.stop());
      await worker.start();
      started.add('worker');
    }
    const metrics = await openMetricsEndpoint(services, http.port);
    listener_stops.unshift(() => metrics.stop());
    const telemetry = await startTelemetry(services, http.port);
    listener_stops.unshift(() => telemetry.stop());
    const judge = createAlarmJudge(services);
    const watch = startInstanceWatch(services, judge);
    listener_stops.unshift(() => watch.stop().finally(() => judge.stop()));
    http.serve({
      health: createHealthHandler(services, started),
      metrics: metrics.handler,
      rest: runs('rest') ? createRestHandler(services) : null,
      feedback: runs('rest') ? createFeedbackHandler(services) : null,
      resend: runs('rest') && offersResend(config) ? createResendHandler(services) : null,
      malformed: runs('rest') ? createMalformedHandler(services) : null,
      absent: absentPart(services),
      admin: admin?.createHandler(services, dashboard?.current) ?? null,
    });
    listener_stops.unshift(() => http.stop());
    for (const role of ['rest', 'admin'] as const) if (runs(role)) started.add(role);
    const ports = {
      capture: inbound?.capture_port ?? null,
      inbound: inbound?.inbound_port ?? null,
      submission: inbound?.submission_ports ?? [],
      metrics: metrics.port,
    };
    return { ports, stop };
  } catch (error) {
    await stop().catch((stop_error: unknown) => log.error({ err: stop_error }, 'failed to stop the roles'));
    throw error;
  }
}

function absentPart(services: Services): Mounts['absent'] {
  return (part, variable) => async (_request, response) => {
    const request_id = newId('request', services.clock.now());
    const error = new AppError('route_not_found', `${part} does not run in this process; see ${variable}.`);
    response.setHeader('X-Request-Id', request_id);
    writeJson(response, 404, errorBody(error, request_id, services.public_url));
  };
}

/** Returns whether the Resend API is enabled. If email is only captured, every API is available for testing. */
function offersResend({ RESEND_API, DELIVERY }: Services['config']): boolean {
  return RESEND_API === undefined ? DELIVERY.every(({ kind }) => kind === 'capture') : RESEND_API === 'on';
}
