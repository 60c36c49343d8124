import { setTimeout as pause } from 'node:timers/promises';
import {
  type CapturedMail,
  type CaptureScript,
  type CaptureServer,
  type CaptureVerdict,
  startCaptureServer,
} from '../capture/capture-server.ts';
import { refusalFor } from './refusal.ts';
import { complaintReport, failureReport } from './report.ts';
import { createReporter, type ReporterOptions } from './reporter.ts';
import { SIMULATOR_DOMAIN, scriptOf } from './script.ts';

export interface SimulatorOptions {
  readonly host: string;
  /** 0 picks any free port. */
  readonly port: number;
  /** Replies with 250 once this has resolved, and with 451 if it rejects. */
  on_mail(mail: CapturedMail): Promise<void>;
  now(): Date;
  readonly reports: ReporterOptions;
}

// If an entry is dropped early, its message is deferred or cut once more, which costs an attempt but loses no message.
const MAX_COUNTED = 10_000;
const HEADER_END = Buffer.from('\r\n\r\n');
const MESSAGE_ID = /^message-id:\s*(<[^>\r\n]*>)/im;
const ACCEPT: CaptureVerdict = { kind: 'accept' };

/** Starts an SMTP server that accepts everything and runs the scripts in the addresses of its domain. */
export async function startSimulator(options: SimulatorOptions): Promise<CaptureServer> {
  const reporter = createReporter(options.reports);
  const { host, port, on_mail } = options;
  const server = await startCaptureServer({ host, port, on_mail, script: play() });
  return {
    port: server.port,
    async stop() {
      await Promise.all([server.stop(), reporter.stop()]);
    },
  };

  function play(): CaptureScript {
    const counts = new Map<string, number>();

    /** Returns how many times this message was sent to this recipient, including this time. */
    function timesSeen({ raw }: CapturedMail, recipient: string): number {
      const name = `${messageIdOf(raw)} ${recipient}`;
      const times = (counts.get(name) ?? 0) + 1;
      counts.delete(name);
      counts.set(name, times);
      const [oldest] = counts.keys();
      if (counts.size > MAX_COUNTED && oldest !== undefined) counts.delete(oldest);
      return times;
    }

    function verdictOn(mail: CapturedMail, recipient: string): CaptureVerdict {
      const script = scriptOf(recipient);
      if (script.kind === 'drop_after_data') return timesSeen(mail, recipient) > 1 ? ACCEPT : { kind: 'cut' };
      if (script.kind !== 'defer') return ACCEPT;
      const times = timesSeen(mail, recipient);
      if (times > script.times) return ACCEPT;
      const text = `simulated: temporary failure ${times} of ${script.times}`;
      return { kind: 'refuse', reply: { code: 451, enhanced: '4.3.0', text } };
    }

    return {
      async on_recipient(recipient, signal) {
        const script = scriptOf(recipient);
        switch (script.kind) {
          case 'bounce':
            return { kind: 'refuse', reply: refusalFor(script.status) };
          case 'malformed':
            return { kind: 'refuse', reply: { code: 550, enhanced: '5.5.4', text: `simulator: ${script.advice}` } };
          case 'slow':
            await pause(script.seconds * 1000, undefined, { signal, ref: false });
            return ACCEPT;
          default:
            return ACCEPT;
        }
      },
      on_content(mail) {
        const verdicts = mail.envelope_to.map((recipient) => verdictOn(mail, recipient));
        return verdicts.find((verdict) => verdict.kind !== 'accept') ?? ACCEPT;
      },
      on_stored({ envelope_from, envelope_to, raw }) {
        for (const recipient of envelope_to) {
          const script = scriptOf(recipient);
          const mail = { envelope_from, recipient, raw, arrived_at: options.now() };
          if (script.kind === 'complain') {
            const from = `complaints@${SIMULATOR_DOMAIN}`;
            reporter.send({ from, to: envelope_from, compose: (id) => complaintReport(id, mail) });
          } else if (script.kind === 'dsn') {
            const refusal = refusalFor(script.status);
            // RFC 5321 section 6.1: a report has an empty envelope sender, so that it is never replied to.
            reporter.send({ from: '', to: envelope_from, compose: (id) => failureReport(id, mail, refusal) });
          }
        }
      },
    };
  }
}

function messageIdOf(raw: Buffer): string {
  const end = raw.indexOf(HEADER_END);
  return MESSAGE_ID.exec(raw.toString('latin1', 0, end < 0 ? raw.length : end))?.[1] ?? '';
}
