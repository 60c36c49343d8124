import { createMailer } from '../mailer.ts';
import type { Mailer } from '../send-outcome.ts';
import { LONGEST_SECONDS, SIMULATOR_DOMAIN, scriptOf } from './script.ts';

const CONNECTIONS = 10;
// Each that is slow on purpose keeps a connection for as long. A lane sends to 20 at once, and there is one for
// sandbox keys and, with DELIVERY=capture, one for live keys.
const SLOW_CONNECTIONS = 40;
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
    async stop() {
      await Promise.all([quick.stop(), slow.stop()]);
    },
  };
}
