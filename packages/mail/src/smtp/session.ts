import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { cleanRemoteText } from '@postrider/net';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { SMTPError } from 'nodemailer/lib/smtp-connection';
import type { TlsFacts } from '../outcome/send-outcome.ts';
import type { Deadline } from './deadline.ts';
import type { ReplyReader } from './reply-reader.ts';
import type { SmtpRoute } from './route.ts';

/** One connection. One transaction uses it at a time, but the envelope of the next message may be pipelined. */
export interface Session {
  readonly connection: SMTPConnection;
  /** Null until the session is open. */
  line: Line | null;
  readonly route: SmtpRoute;
  readonly idle_timer: NodeJS.Timeout;
  tls: TlsFacts | null;
  address: string | null;
  message_count: number;
  ended: boolean;
  /** Receives the connection's commands, replies and end. Replaced at each phase. */
  listener: SessionListener;
  /** The transcript of the current message. */
  log: Log;
}

export interface Log {
  readonly lines: string[];
  length: number;
}

export type OpenSession = Session & { readonly line: Line };

/** The socket of an open session, and the extensions that its server supports. */
export interface Line {
  readonly socket: Socket;
  readonly replies: ReplyReader;
  readonly abilities: Abilities;
  readonly deadline: Deadline;
}

export interface Abilities {
  readonly pipelining: boolean;
  readonly smtputf8: boolean;
  readonly size: boolean;
  /** 0 if the server states no limit. */
  readonly max_size: number;
}

export interface SessionListener {
  command?(line: string): void;
  reply?(line: string): void;
  end?(error: SMTPError | null): void;
  /** Called when the deadline has passed. */
  expire?(): void;
}

const MAX_TRANSCRIPT_LINE = 400;
const MAX_TRANSCRIPT = 8 * 1024;
/** The listener of an idle session. */
export const SILENT: SessionListener = {};

export function isOpen(session: Session): session is OpenSession {
  return session.line !== null;
}

/** Returns the extensions in the EHLO reply, or no extensions if the server responded only to HELO. */
export function readAbilities(greeted: string): Abilities {
  const offers = (keyword: string) => new RegExp(`^250[ -]${keyword}(?:\\s|$)`, 'im').test(greeted);
  const max_size = Number(/^250[ -]SIZE[ \t]+(\d+)/im.exec(greeted)?.[1] ?? 0);
  return { pipelining: offers('PIPELINING'), smtputf8: offers('SMTPUTF8'), size: offers('SIZE'), max_size };
}

export function sendCommand(session: OpenSession, command: string): void {
  note(session.log, 'C', command);
  session.line.socket.write(`${command}\r\n`);
}

export function discard(session: Session): void {
  session.ended = true;
  clearTimeout(session.idle_timer);
  session.line?.deadline.stop();
  session.connection.close();
}

export function tlsFacts(socket: Socket | false | null): TlsFacts | null {
  if (!(socket instanceof TLSSocket)) return null;
  return {
    protocol: socket.getProtocol() ?? 'unknown',
    cipher: socket.getCipher()?.name ?? 'unknown',
    authorized: socket.authorized,
  };
}

export function describe(error: SMTPError | null): string {
  if (!error) return 'The connection was closed.';
  const cause = error.originalCode ?? error.code;
  const text = cleanRemoteText(error.message);
  return cause && !text.includes(cause) ? `${text} (${cause})` : text;
}

export function emptyLog(): Log {
  return { lines: [], length: 0 };
}

/** Adds a command or a reply, which may have several lines. */
export function note(log: Log, speaker: 'C' | 'S', said: string): void {
  const start = said.slice(0, MAX_TRANSCRIPT_LINE);
  for (const line of start.includes('\n') ? start.split(/\r?\n/) : [start]) {
    if (log.length > MAX_TRANSCRIPT) return;
    const text = `${speaker}: ${cleanRemoteText(line)}`;
    log.lines.push(text);
    log.length += text.length;
  }
}

export function transcriptOf({ lines }: Log): string {
  return lines.length > 0 ? `${lines.join('\n')}\n` : '';
}
