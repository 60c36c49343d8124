import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AlertSink {
  readonly url: string;
  /** The rules of the alarms that the sink was notified about. */
  readonly rules: ReadonlySet<string>;
  stop(): Promise<void>;
}

/** Starts the webhook for alarms of the instance. */
export async function startAlertSink(): Promise<AlertSink> {
  const rules = new Set<string>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { alarms } = JSON.parse(Buffer.concat(chunks).toString()) as {
        alarms: readonly { readonly rule: string }[];
      };
      for (const { rule } of alarms) rules.add(rule);
      response.writeHead(200).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/alarms`,
    rules,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
