import { createServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Services } from '@postrider/core';
import { startListener } from '@postrider/inbound';
import { createFeedbackHandler } from '@postrider/rest';
import { type SmtpSink, snsCertificate, startSmtpSink } from '@postrider/testing';
import { endAfterTests, openWorld } from '@postrider/testing/open-world';
import { afterAll } from 'vitest';
import { type Post, SNS_HOST, sesId } from './stubs.ts';

/** A service with a relay that keeps bounces, and the servers of providers. */
export interface Stage {
  readonly world: Awaited<ReturnType<typeof openWorld>>;
  readonly relay: SmtpSink;
  /** Where reports arrive by email. */
  readonly returns_port: number;
  /** The paths that the stub of SNS was asked for. */
  readonly sns_requests: string[];
  /** Sends a request of a provider, and returns the status of the response. */
  deliver(path: string, post: Post): Promise<number>;
}

export async function openStage(): Promise<Stage> {
  const world = await openWorld({
    DELIVERY: 'smtp://127.0.0.1:2525',
    RETURN_PATH_DOMAIN: 'bounces.example.org',
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
  });
  await world.domain('shop.example');
  const relay = endAfterTests(await startSmtpSink({ receipt: ([to = '']) => `Ok ${sesId(to)}` }));
  const returns = endAfterTests(await startListener(world.services, 0));
  world.dns.set(SNS_HOST, 'A', ['127.0.0.1']);
  return { world, relay, returns_port: returns.port, ...(await startFeedback(world.services)) };
}

/** Starts the listener of feedback, and the server of SNS at SNS_HOST. The caller's name server leads to it. */
export async function startFeedback(services: Services): Promise<Pick<Stage, 'sns_requests' | 'deliver'>> {
  const sns_requests: string[] = [];
  // Serves the certificate of the stub of SNS, and takes its confirmations.
  const https_port = await listen(
    (listener) => createHttpsServer(snsCertificate, listener),
    ({ url = '' }, response) => {
      sns_requests.push(url);
      response.end(snsCertificate.cert);
    },
  );
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, snsCertificate.cert]);
  afterAll(() => setDefaultCACertificates(trusted));
  const handler = createFeedbackHandler(services, { https_port });
  const port = await listen(createServer, (request, response) => void handler(request, response));
  return {
    sns_requests,
    async deliver(path, { headers, body }) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body });
      await response.arrayBuffer();
      return response.status;
    },
  };
}

async function listen(open: (listener: RequestListener) => Server, listener: RequestListener): Promise<number> {
  const server = open(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => new Promise((resolve) => server.close(resolve)));
  return (server.address() as AddressInfo).port;
}
