import { createMailer } from '@postrider/mail';
import { stopAll } from '../measure/flow.ts';
import { mailLatency } from '../measure/mail-latency.ts';
import { startPostfix } from './postfix.ts';

const LIMIT_MS = 60_000;

/**
 * Returns the p99 in milliseconds through Postfix and OpenDKIM, with messages submitted over persistent connections.
 */
export async function postfixLatency(
  paced: { readonly seconds: number; readonly pace: number },
  text: string,
): Promise<number> {
  const { p99_ms } = await mailLatency(paced, async (sink_port) => {
    const postfix = await startPostfix(sink_port, true);
    const mailer = createMailer({
      helo_name: 'load.example.com',
      transports: [{ host: '127.0.0.1', port: postfix.port, secure: false, tls: 'none', max_connections: 10 }],
    });
    const body = text.replaceAll('\n', '\r\n');
    return {
      async send(subject) {
        const raw = Buffer.from(`From: app@mail.example.com\r\nSubject: ${subject}\r\n\r\n${body}\r\n`);
        await mailer.send({ from: 'app@mail.example.com', to: 'ada@rcpt.test' }, raw, AbortSignal.timeout(LIMIT_MS));
      },
      stop: () => stopAll([mailer, postfix]),
    };
  });
  return p99_ms;
}
