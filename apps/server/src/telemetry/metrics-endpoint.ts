import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import {
  AppError,
  createContext,
  errorFields,
  httpStatus,
  invoke,
  type MetricReading,
  newId,
  roleNames,
  type Services,
} from '@postrider/core';
import { authenticate, readCredential, refuseAddress } from '@postrider/core/api-keys';
import { readMetrics } from '@postrider/core/metrics';
import { createClientAddress } from '@postrider/net';
import { bearerToken } from '@postrider/rest';
import { type Handler, writeJson } from '../http-server.ts';
import type { ProcessName } from './metric-producer.ts';

const TEXT = 'text/plain; version=0.0.4; charset=utf-8';
const LOOPBACK = '127.0.0.1';

export function processName({ config }: Pick<Services, 'config'>, port: number): ProcessName {
  const role = roleNames.every((name) => config.ROLES.includes(name)) ? 'all' : config.ROLES.join('+');
  return { role, instance: `${hostname()}:${port}` };
}

type Expose = (readings: readonly MetricReading[]) => Promise<string>;

/** Creates a metrics writer that loads the SDK on its first call, because most processes are never scraped. */
function createLazyExposition(name: ProcessName): Expose {
  let loading: Promise<Expose> | null = null;
  return async (readings) => {
    loading ??= import('./prometheus.ts').then(({ createExposition }) => createExposition(name));
    return (await loading)(readings);
  };
}

export interface MetricsEndpoint {
  /** Serves /metrics on the main port to keys with the operator scope. */
  readonly handler: Handler;
  /** The port that needs no key, or null if METRICS_PORT is unset. */
  readonly port: number | null;
  stop(): Promise<void>;
}

export async function openMetricsEndpoint(services: Services, port: number): Promise<MetricsEndpoint> {
  const expose = createLazyExposition(processName(services, port));
  const clientAddress = createClientAddress(services.config.TRUSTED_PROXIES);
  const local = await listenLocally(services, expose);
  return {
    async handler(request, response) {
      const request_id = newId('request', services.clock.now());
      try {
        const address = clientAddress(request.socket, request.headers['x-forwarded-for']);
        const readings = await readWithKey(services, request, address, request_id);
        writeText(response, await expose(readings));
      } catch (error) {
        refuse(services, response, request_id, error);
      }
    },
    ...local,
  };
}

async function readWithKey(
  services: Services,
  request: IncomingMessage,
  address: string,
  request_id: string,
): Promise<readonly MetricReading[]> {
  const credential = readCredential(bearerToken(request.headers.authorization), address);
  if (credential instanceof AppError) throw (await refuseAddress(services, address, credential)).error;
  const known = await authenticate(services, credential, 'default');
  if ('error' in known) throw known.error;
  return invoke(createContext(services, known.actor, { request_id, via: 'rest', address }), readMetrics, {});
}

function refuse({ log, public_url }: Services, response: ServerResponse, request_id: string, error: unknown): void {
  const refusal =
    error instanceof AppError ? error : new AppError('unexpected', 'The metrics could not be read; try again.');
  if (refusal !== error) log.error({ err: error, request_id }, 'failed to write metrics');
  response.setHeader('x-request-id', request_id);
  const docs_url = `${public_url}/errors/${refusal.reason}`;
  writeJson(response, httpStatus[refusal.code], { error: { ...errorFields(refusal), request_id, docs_url } });
}

/**
 * Serves metrics without a key and therefore only on loopback: a local proxy must never forward requests to this port.
 */
async function listenLocally(
  { config, metrics, log }: Services,
  expose: Expose,
): Promise<Pick<MetricsEndpoint, 'port' | 'stop'>> {
  const { METRICS_PORT } = config;
  if (METRICS_PORT === undefined) return { port: null, stop: async () => undefined };
  const server = createServer((request, response) => {
    if (request.url?.split('?', 1)[0] !== '/metrics') {
      writeText(response, 'GET /metrics\n', 404);
      return;
    }
    expose(metrics.read()).then(
      (text) => writeText(response, text),
      (error: unknown) => {
        log.error({ err: error }, 'failed to write metrics');
        writeText(response, 'The metrics could not be written; the log says why.\n', 500);
      },
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(METRICS_PORT, LOOPBACK, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' ? (address?.port ?? null) : null,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function writeText(response: ServerResponse, text: string, status = 200): void {
  response.writeHead(status, { 'content-type': TEXT, 'cache-control': 'no-store' });
  response.end(text);
}
