import { listenNear, listenOn, type Services } from '@postrider/core';
import { startCapture } from './capture.ts';
import { startListener } from './listener.ts';
import { type Submission, startSubmission } from './submission.ts';

export interface InboundRole {
  /** The SMTP capture port, known after start. */
  capture_port: number | null;
  /** The port for bounces and complaints, known after start. */
  inbound_port: number | null;
  /** The configured ports for programs that send by SMTP. */
  submission_ports: readonly number[];
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Creates the role that runs the SMTP listeners. */
export function createRole(services: Services): InboundRole {
  const { config } = services;
  let capture: Awaited<ReturnType<typeof startCapture>> | null = null;
  const submissions: Submission[] = [];
  let inbound: Awaited<ReturnType<typeof startListener>> | null = null;
  return {
    capture_port: null,
    inbound_port: null,
    submission_ports: [],
    async start() {
      inbound = await listenNear(config, 'INBOUND_PORT', (port) => startListener(services, port));
      this.inbound_port = inbound.port;
      for (const name of ['SUBMISSION_PORT', 'SUBMISSIONS_PORT'] as const) {
        const port = config[name];
        if (port === undefined) continue;
        const implicit = name === 'SUBMISSIONS_PORT';
        submissions.push(
          await listenOn(name, port, (port_number) => startSubmission(services, port_number, { implicit })),
        );
      }
      this.submission_ports = submissions.map(({ port }) => port);
      if (!config.DELIVERY.some((transport) => transport.kind === 'capture')) return;
      capture = await listenNear(config, 'CAPTURE_PORT', (port) => startCapture(services, port));
      this.capture_port = capture.port;
    },
    async stop() {
      await Promise.all([capture?.stop(), inbound?.stop(), ...submissions.map((each) => each.stop())]);
    },
  };
}
