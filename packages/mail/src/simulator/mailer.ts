import { createMailer } from '../mailer.ts';
import type { Mailer } from '../outcome/send-outcome.ts';
import { MAX_SECONDS, SIMULATOR_DOMAIN, scriptOf } from './script.ts';

// Connections per lane. There is a lane of each kind for sandbox keys and, with DELIVERY=capture, one for live keys.
const WIDTH = 60;
const CONNECTIONS = 60;
// Slow scripts occupy connections for a long time, so the lanes for sandbox and live keys each get their full width.
const SLOW_CONNECTIONS = 2 * WIDTH;
const MARGIN_MS = 30_000;

/**
 * Creates a mailer that sends to the simulator. Slow scripts have separate connections, so they do not delay other
 * messages.
 */
export function createSimulatorMailer({
  host,
  port,
  helo_name,
}: {
  readonly host: string;
  readonly port: number;
  readonly helo_name: string;
}): Mailer {
  const common = { host, port, secure: false, tls: 'none', lane_by: 'domain' } as const;
  const quick = createMailer({ helo_name, transports: [{ ...common, max_connections: CONNECTIONS }] });
  const slow = createMailer({
    helo_name,
    transports: [
      {
        ...common,
        max_connections: SLOW_CONNECTIONS,
        timeouts: { command_ms: MAX_SECONDS * 1000 + MARGIN_MS },
      },
    ],
  });
  return {
    send(envelope, raw, signal) {
      const mailer = scriptOf(envelope.to).kind === 'slow' ? slow : quick;
      return mailer.send(envelope, raw, signal);
    },
    /** Returns a lane per script: simulated failures and delays must not close another script's lane. */
    laneOf(to) {
      const { kind } = scriptOf(to);
      return kind === 'accept' ? quick.laneOf(to) : `${kind}.${SIMULATOR_DOMAIN}`;
    },
    width: WIDTH,
    async stop() {
      await Promise.all([quick.stop(), slow.stop()]);
    },
  };
}
