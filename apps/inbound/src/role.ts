import type { Services } from '@postrider/core';
import { startCapture } from './capture.ts';

const DEFAULT_CAPTURE_PORT = 1025;

export interface InboundRole {
  /** Where programs may send captured mail; known after start. */
  capture_port: number | null;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** SMTP listeners. A default port that is busy yields to a free one; a port that was set stops the start. */
export function createRole(services: Services): InboundRole {
  let capture: Awaited<ReturnType<typeof startCapture>> | null = null;
  return {
    capture_port: null,
    async start() {
      if (!services.config.DELIVERY.some((transport) => transport.kind === 'capture')) return;
      const wanted = services.config.CAPTURE_PORT;
      capture = await startCapture(services, wanted ?? DEFAULT_CAPTURE_PORT).catch((error) => {
        if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
        if (wanted !== undefined) {
          throw new Error(`CAPTURE_PORT ${wanted} is in use; end what listens there, or set another port.`);
        }
        return startCapture(services, 0);
      });
      this.capture_port = capture.port;
    },
    async stop() {
      await capture?.stop();
    },
  };
}
