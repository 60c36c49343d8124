import { createMailer } from '../mailer.ts';
import type { Mailer } from '../send-outcome.ts';
import { LONGEST_SECONDS, SIMULATOR_DOMAIN, scriptOf } from './script.ts';

// A lane sends to so many at once, and there is one of each kind for sandbox keys and, with DELIVERY=capture, one for
// live keys.
const WIDTH = 60;
const CONNECTIONS = 60;
// Each that is slow on purpose keeps a connection for as long.
const SLOW_CONNECTIONS = 2 * WIDTH;
const MARGIN_MS = 30_000;

/** Sends into the simulator. Who is slow there on purpose has connections of their own and delays nobody else. */
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
        timeouts: { command_ms: LONGEST_SECONDS * 1000 + MARGIN_MS },
      },
    ],
  });
  return {
    send(envelope, raw, signal) {
      const mailer = scriptOf(envelope.to).kind === 'slow' ? slow : quick;
      return mailer.send(envelope, raw, signal);
    },
    /** One for each script: what fails or waits on purpose says nothing about the others. */
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
