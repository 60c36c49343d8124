import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

export type Verb = 'greeting' | 'EHLO' | 'MAIL' | 'RCPT' | 'DATA' | 'dot' | 'RSET' | 'QUIT' | 'STARTTLS' | 'AUTH';
/**
 * The response of a scripted server. A function acts on the socket itself, and nothing more is read until the returned
 * promise settles. Null means permanent silence, and an empty string means no response to this command.
 */
export type ServerReply = string | null | ((socket: Socket) => unknown);
export type Script = (verb: Verb, connection: number, line: string) => ServerReply | undefined;

export interface ScriptedServer {
  readonly port: number;
  readonly verbs: string[];
  readonly bodies: string[];
  readonly sockets: Socket[];
  connections: number;
  /** The number of dots that were followed by more data when they were replied to. */
  ahead: number;
  stop(): Promise<unknown>;
}

export interface ScriptedServerOptions {
  /** TLS from the first byte. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Discards data that arrives after a dot. */
  readonly forgetful?: boolean;
  /** Listens on this path instead of a port. On a path, unread data soon fills the kernel's buffers. */
  readonly path?: string;
}

/** Options with which a transport reaches a scripted server. */
export const RELAY = { host: '127.0.0.1', secure: false, helo_name: 'mail.good.test', tls: 'opportunistic' } as const;

export const DEFAULTS: Record<Verb, string> = {
  greeting: '220 sink',
  EHLO: '250-sink\r\n250 ENHANCEDSTATUSCODES',
  MAIL: '250 2.1.0 ok',
  RCPT: '250 2.1.5 ok',
  DATA: '354 go',
  dot: '250 2.0.0 taken',
  RSET: '250 ok',
  QUIT: '221 bye',
  STARTTLS: '454 no',
  AUTH: '535 5.7.8 no',
};
export const PIPELINING = '250-sink\r\n250 PIPELINING';
const VERBS = new Set<string>(Object.keys(DEFAULTS));
export const hangUp: ServerReply = (socket) => socket.destroy();

/**
 * Starts an SMTP server that responds to every command immediately, following its script or, by default, as a correct
 * server would.
 */
export async function startScriptedServer(
  script: Script = () => undefined,
  options: ScriptedServerOptions = {},
): Promise<ScriptedServer> {
  const state = { verbs: [] as string[], bodies: [] as string[], sockets: [] as Socket[], connections: 0, ahead: 0 };
  const serve = (socket: Socket) => {
    const connection = ++state.connections;
    state.sockets.push(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    let received = '';
    let inBody = false;
    let is_silent = false;
    const response = (verb: Verb, line: string) => {
      const choice = script(verb, connection, line);
      const reply = choice === undefined ? DEFAULTS[verb] : choice;
      if (typeof reply === 'function') {
        const done = reply(socket);
        if (done instanceof Promise) {
          is_silent = true;
          void done.then(() => {
            is_silent = false;
            read();
          });
        }
      } else if (reply === null) is_silent = true;
      else if (reply !== '') socket.write(`${reply}\r\n`);
      if (verb === 'DATA') inBody = typeof reply === 'string' && /^354/m.test(reply);
    };
    const read = () => {
      while (!is_silent) {
        if (inBody && received.startsWith('.\r\n')) received = `\r\n${received}`;
        const end = inBody ? received.indexOf('\r\n.\r\n') : received.indexOf('\r\n');
        if (end < 0) return;
        const piece = received.slice(0, end);
        received = received.slice(end + (inBody ? 5 : 2));
        if (inBody) {
          inBody = false;
          state.bodies.push(piece.replace(/^\./gm, ''));
          state.verbs.push('dot');
          if (received !== '') state.ahead++;
          if (options.forgetful) received = '';
          response('dot', piece);
        } else {
          const verb = piece.split(/[ :]/)[0]?.toUpperCase() ?? '';
          state.verbs.push(verb);
          if (VERBS.has(verb)) response(verb as Verb, piece);
        }
      }
    };
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      read();
    });
    response('greeting', '');
  };
  const server = options.tls ? createTlsServer(options.tls, serve) : createServer(serve);
  server.on('tlsClientError', () => undefined);
  const where = options.path === undefined ? { host: '127.0.0.1', port: 0 } : { path: options.path };
  await new Promise<void>((resolve) => server.listen(where, resolve));
  return Object.assign(state, {
    port: (server.address() as AddressInfo).port,
    stop() {
      for (const socket of state.sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  });
}
