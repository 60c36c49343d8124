import { type HttpConnection, openHttpConnection } from '../measure/http-connection.ts';
import type { ProductDatabase } from './product.ts';
import type { Letter } from './sample.ts';

export interface LetterSender {
  send(words: Letter): Promise<void>;
  stop(): void;
}

interface Connection {
  readonly opened: HttpConnection;
  /** The request in progress. */
  request: { resolve(): void; reject(error: Error): void } | null;
}

const ACCEPTED = 202;

/** Submits messages one by one, over connections that stay open, as an integrator's HTTP client does. */
export function createLetterSender(product: ProductDatabase, port: number): LetterSender {
  const idle: Connection[] = [];
  const all = new Set<Connection>();

  function open(): Promise<Connection> {
    const ready = Promise.withResolvers<Connection>();
    const connection: Connection = {
      opened: openHttpConnection(port, {
        ready: () => ready.resolve(connection),
        answer(status) {
          const { request } = connection;
          connection.request = null;
          idle.push(connection);
          if (status === ACCEPTED) request?.resolve();
          else request?.reject(new Error(`a message was answered with ${status}`));
        },
        failed(error) {
          // The server closes connections that were idle for long.
          all.delete(connection);
          const place = idle.indexOf(connection);
          if (place >= 0) idle.splice(place, 1);
          connection.request?.reject(error);
          ready.reject(error);
        },
      }),
      request: null,
    };
    all.add(connection);
    return ready.promise;
  }

  return {
    async send(words) {
      const [request] = product.requestsOf(words);
      if (!request) throw new Error('there is no API key to send with');
      const connection = idle.pop() ?? (await open());
      await new Promise<void>((resolve, reject) => {
        connection.request = { resolve, reject };
        connection.opened.send(request);
      });
    },
    stop() {
      for (const { opened } of all) opened.close();
    },
  };
}
