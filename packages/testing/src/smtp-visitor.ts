import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

export interface SmtpVisitor {
  /** Sends one command, or a whole message with its end of DATA, and resolves with the last line of the reply. */
  say(line: string): Promise<string>;
  close(): void;
}

/** Connects a client that sends exactly the given bytes, for servers that must handle any input. */
export async function visitSmtp(port: number): Promise<SmtpVisitor> {
  const socket = connect(port, '127.0.0.1');
  const closed = once(socket, 'close');
  socket.on('error', () => undefined);
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  async function reply(): Promise<string> {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error('the server closed the connection');
      if (/^\d{3}(?: |$)/.test(value)) return value;
    }
  }
  await reply();
  return {
    say(line) {
      socket.write(`${line}\r\n`);
      return reply();
    },
    close() {
      socket.destroy();
      void closed;
    },
  };
}

/**
 * Sends one message to a server. Returns the reply to RCPT and, if the recipient was accepted, the reply to the
 * message.
 */
export async function bringMail(
  port: number,
  mail: { readonly from: string; readonly to: string; readonly raw: string },
): Promise<{ readonly rcpt: string; readonly data: string | null }> {
  const visitor = await visitSmtp(port);
  try {
    await visitor.say('EHLO visitor.test');
    await visitor.say(`MAIL FROM:<${mail.from}>`);
    const rcpt = await visitor.say(`RCPT TO:<${mail.to}>`);
    if (!rcpt.startsWith('2')) return { rcpt, data: null };
    await visitor.say('DATA');
    const stuffed = mail.raw.replace(/\r?\n/g, '\r\n').replace(/^\./gm, '..');
    return { rcpt, data: await visitor.say(`${stuffed}\r\n.`) };
  } finally {
    visitor.close();
  }
}
