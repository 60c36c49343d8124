import { type Services, usualPorts } from '@postrider/core';
import { recordCapture } from '@postrider/core/captures';
import { startSimulator } from '@postrider/mail';

const HOST = '127.0.0.1';

/**
 * Starts this worker's simulator on its own loopback port. It reports to the inbound role in the same process, or to
 * the configured port; if nothing listens there, reports are only logged.
 */
export async function openSimulator(services: Services, inbound_port: number | null) {
  const { config, log, clock } = services;
  const { port, stop } = await startSimulator({
    host: HOST,
    port: 0,
    on_mail: (mail) => recordCapture(services, mail),
    now: () => new Date(clock.now()),
    reports: {
      helo_name: config.HELO_NAME ?? 'localhost',
      host: reachable(config.HOST),
      port: inbound_port ?? (config.INBOUND_PORT || usualPorts.INBOUND_PORT),
      on_lost: ({ to, outcome }) =>
        log.warn(
          { to, error: outcome?.error, reply: outcome?.reply },
          'the inbound role is not listening or rejected a simulated report',
        ),
    },
  });
  return { host: HOST, port, stop };
}

/** Returns an address to connect to, for a listener that may listen on all addresses. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
