import type { RoleName, Services } from '@postrider/core';
import { pendingMigrations } from '@postrider/db';
import { type Handler, writeJson } from './http-server.ts';

const abilities: Record<RoleName, string> = {
  rest: 'can_accept',
  admin: 'can_serve',
  worker: 'can_deliver',
  inbound: 'can_receive',
};

/** /healthz: the process is up. /readyz: the database answers, its migrations are current, and the roles have started. */
export function createHealthHandler(services: Services, started: ReadonlySet<RoleName>): Handler {
  return async (request, response) => {
    if (request.url?.startsWith('/healthz')) return writeJson(response, 200, { status: 'ok' });
    const checks = await readiness(services);
    const roles = Object.fromEntries(
      services.config.ROLES.map((role) => [role, { [abilities[role]]: started.has(role) && checks.database === 'ok' }]),
    );
    const ready =
      checks.database === 'ok' &&
      checks.migrations === 'ok' &&
      services.config.ROLES.every((role) => started.has(role));
    writeJson(response, ready ? 200 : 503, { status: ready ? 'ready' : 'not_ready', ...checks, roles });
  };
}

async function readiness(services: Services): Promise<{ database: string; migrations: string }> {
  try {
    const pending = await pendingMigrations(services.sql);
    return { database: 'ok', migrations: pending.length === 0 ? 'ok' : `pending: ${pending.join(', ')}` };
  } catch {
    return { database: 'unreachable', migrations: 'unknown' };
  }
}
