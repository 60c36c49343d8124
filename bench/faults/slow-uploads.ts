import { connect, type Socket } from 'node:net';

const BYTES_PER_SECOND = 220;
const BODY_BYTES = 200_000;

/**
 * Starts clients that send a body at 220 bytes per second and reconnect as soon as they are cut off. Returns a function
 * that stops them.
 */
export function startSlowUploads(ports: readonly number[], secret: string, count: number): () => void {
  const sockets = new Set<Socket>();
  let stopped = false;
  const begin = (number: number) => {
    if (stopped) return;
    const socket = connect(ports[number % ports.length] ?? 0, '127.0.0.1');
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.resume();
    socket.write(
      `POST /v1/email/send HTTP/1.1\r\nHost: slow\r\nAuthorization: Bearer ${secret}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${BODY_BYTES}\r\n\r\n{"subject": "`,
    );
    const drip = setInterval(() => socket.write('x'.repeat(BYTES_PER_SECOND)), 1000);
    socket.on('close', () => {
      clearInterval(drip);
      sockets.delete(socket);
      setTimeout(() => begin(number), 1000).unref();
    });
  };
  for (let number = 0; number < count; number++) begin(number);
  return () => {
    stopped = true;
    for (const socket of sockets) socket.destroy();
  };
}
