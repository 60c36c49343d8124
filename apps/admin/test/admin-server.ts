import { request } from 'node:http';
import type { Services } from '@postrider/core';
import { listenHttp, type World } from '@postrider/testing';
import { endAfterTests } from '@postrider/testing/open-world';
import { createHandler } from '../src/index.ts';
import type { DashboardSource } from '../src/pages/dashboard/dashboard-routes.ts';

export interface AdminResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface AdminServer {
  readonly port: number;
  /** Sends a GET over node:http, because fetch does not allow setting Host. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<AdminResponse>;
  stop(): Promise<void>;
}

/** Serves the admin routes on a separate socket. */
export async function startAdmin(services: Services, dashboard?: DashboardSource): Promise<AdminServer> {
  const { port, stop } = await listenHttp(createHandler(services, dashboard));
  return {
    port,
    get(path, headers = {}) {
      return new Promise((resolve, reject) => {
        const outgoing = request({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: Buffer.concat(chunks).toString(),
            }),
          );
        });
        outgoing.on('error', reject);
        outgoing.end();
      });
    },
    stop,
  };
}

/** Serves the admin routes for a test file until its last test has ended. */
export async function openAdmin({ services }: World): Promise<AdminServer> {
  return endAfterTests(await startAdmin(services));
}
