import { type Services, usualPorts } from '@postrider/core';
import { startCapture } from './capture.ts';
import { startListener } from './listener.ts';
import { type Submission, startSubmission } from './submission.ts';

export interface InboundRole {
  /** The port of the SMTP capture; known after start. */
  capture_port: number | null;
  /** The port for bounces and complaints; known after start. */
  inbound_port: number | null;
  /** The ports for programs that send by SMTP, those that are set. */
  submission_ports: readonly number[];
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** SMTP listeners. A busy default port yields to a free one; a busy port that was set stops the start. */
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
      inbound = await listenOn('INBOUND_PORT', config.INBOUND_PORT, (port) => startListener(services, port));
      this.inbound_port = inbound.port;
      for (const name of ['SUBMISSION_PORT', 'SUBMISSIONS_PORT'] as const) {
        const port = config[name];
        if (port === undefined) continue;
        const implicit = name === 'SUBMISSIONS_PORT';
        submissions.push(await listenExactly(name, port, (wanted) => startSubmission(services, wanted, { implicit })));
      }
      this.submission_ports = submissions.map(({ port }) => port);
      if (!config.DELIVERY.some((transport) => transport.kind === 'capture')) return;
      capture = await listenOn('CAPTURE_PORT', config.CAPTURE_PORT, (port) => startCapture(services, port));
      this.capture_port = capture.port;
    },
    async stop() {
      await Promise.all([capture?.stop(), inbound?.stop(), ...submissions.map((each) => each.stop())]);
    },
  };
}

async function listenOn<T>(
  name: 'INBOUND_PORT' | 'CAPTURE_PORT',
  wanted: number | undefined,
  listen: (port: number) => Promise<T>,
): Promise<T> {
  if (wanted !== undefined) return listenExactly(name, wanted, listen);
  return listen(usualPorts[name]).catch((error) => {
    if (!isBusy(error)) throw error;
    return listen(0);
  });
}

async function listenExactly<T>(name: string, port: number, listen: (port: number) => Promise<T>): Promise<T> {
  return listen(port).catch((error) => {
    if (!isBusy(error)) throw error;
    throw new Error(`${name} ${port} is in use; end what listens there, or set another port.`);
  });
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}
