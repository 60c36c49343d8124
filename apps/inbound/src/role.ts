import { type Services, usualPorts } from '@postrider/core';
import { startCapture } from './capture.ts';
import { startListener } from './listener.ts';

export interface InboundRole {
  /** The port of the SMTP capture; known after start. */
  capture_port: number | null;
  /** The port for bounces and complaints; known after start. */
  inbound_port: number | null;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** SMTP listeners. A busy default port yields to a free one; a busy port that was set stops the start. */
export function createRole(services: Services): InboundRole {
  const { config } = services;
  let capture: Awaited<ReturnType<typeof startCapture>> | null = null;
  let inbound: Awaited<ReturnType<typeof startListener>> | null = null;
  return {
    capture_port: null,
    inbound_port: null,
    async start() {
      inbound = await listenOn('INBOUND_PORT', config.INBOUND_PORT, (port) => startListener(services, port));
      this.inbound_port = inbound.port;
      if (!config.DELIVERY.some((transport) => transport.kind === 'capture')) return;
      capture = await listenOn('CAPTURE_PORT', config.CAPTURE_PORT, (port) => startCapture(services, port));
      this.capture_port = capture.port;
    },
    async stop() {
      await Promise.all([capture?.stop(), inbound?.stop()]);
    },
  };
}

async function listenOn<T>(
  name: 'INBOUND_PORT' | 'CAPTURE_PORT',
  wanted: number | undefined,
  listen: (port: number) => Promise<T>,
): Promise<T> {
  return listen(wanted ?? usualPorts[name]).catch((error) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    if (wanted !== undefined) {
      throw new Error(`${name} ${wanted} is in use; end what listens there, or set another port.`);
    }
    return listen(0);
  });
}
