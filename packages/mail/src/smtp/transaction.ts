import type { SMTPError } from 'nodemailer/lib/smtp-connection';
import { cleanRemoteText, type Reply, readReply } from '../reply.ts';
import type { Envelope, SendOutcome, SendStage } from '../send-outcome.ts';
import { type Abilities, describe, discard, type OpenSession, SILENT, say } from './session.ts';
import { type WireContent, wireContent } from './wire-content.ts';

export interface SmtpTimeouts {
  /** From the first packet to the end of greeting, EHLO, STARTTLS and login. */
  readonly connect_ms: number;
  /** For each reply of MAIL, RCPT, DATA and RSET. */
  readonly command_ms: number;
  /** For the transfer of the whole content, from the go-ahead to the dot. */
  readonly content_ms: number;
  /** For the reply to the dot. RFC 5321 section 4.5.3.2.6 allows a server ten minutes. */
  readonly after_dot_ms: number;
  /** A kept connection is closed after this long without work. */
  readonly idle_ms: number;
}

/** What one transaction came to, and what it means for its session. */
interface Judgement {
  readonly kind: SendOutcome['kind'];
  readonly reply: Reply | null;
  readonly error: string | null;
  readonly stage: SendStage;
  /** A kept session turned out to be over before anything of this transaction was answered. */
  readonly stale: boolean;
  /** Client and server agree on where the session stands, so it can serve another transaction. */
  readonly in_step: boolean;
}

/** Like a stage, but with the transfer of the content told apart from the wait for 354. */
type Position = 'mail' | 'rcpt' | 'data' | 'content' | 'after_dot';

export interface Transaction extends Judgement {
  readonly mail_ms: number;
  readonly data_ms: number;
}

const CHUNK_SIZE = 128 * 1024;
const NOT_IN_A_PATH = /[\0-\x20<>\x7f]/;
const NOT_ASCII = /[^\0-\x7f]/;
const LAST_WORDS = /^[45]\d\d[ -]/;
export const ABORTED = 'The attempt was aborted.';

/** One MAIL, RCPT, DATA, content and dot, judged by how far it came and by what was answered. */
export function transact(
  session: OpenSession,
  envelope: Envelope,
  raw: Buffer,
  signal: AbortSignal,
  timeouts: SmtpTimeouts,
): Promise<Transaction> {
  const { socket, replies, abilities } = session.line;
  const reused = session.message_count > 0;
  session.message_count++;
  return new Promise((resolve) => {
    const started = performance.now();
    let position: Position = 'mail';
    let reply_count = 0;
    let content_started = 0;
    let dot_flushed = false;
    let settled = false;
    // Pipelined commands are all answered before the first refusal is reported.
    let refusal: Judgement | null = null;
    let allowed = timeouts.command_ms;
    let deadline = setTimeout(expire, allowed);

    session.listener = { reply: onReply, end: (error) => finish(judgeEnd(error)) };
    signal.addEventListener('abort', onAbort, { once: true });
    const unsent = signal.aborted ? lost(ABORTED) : problemOf(envelope, raw, abilities);
    const mail = mailCommand(envelope, raw.length, abilities);
    const rcpt = `RCPT TO:<${envelope.to}>`;
    if (unsent) finish(unsent);
    else if (abilities.pipelining) say(session, mail, rcpt, 'DATA');
    else say(session, mail);

    function onReply(text: string): void {
      reply_count++;
      const judgement = goOn(text);
      if (judgement) finish(judgement);
    }

    /** Says what comes next, or judges where nothing does. */
    function goOn(text: string): Judgement | null {
      switch (position) {
        case 'mail':
        case 'rcpt': {
          if (!text.startsWith('2')) {
            refusal ??= judgeReply(text);
            if (!abilities.pipelining || !refusal.reply || refusal.reply.code === 421) return refusal;
          }
          const [next, command] = position === 'mail' ? (['rcpt', rcpt] as const) : (['data', 'DATA'] as const);
          moveTo(next, timeouts.command_ms);
          if (abilities.pipelining) return null;
          // An answer to what has not been said yet would pass for the answer to the next command.
          if (replies.rest() !== '') return lost('The server answered more than it was asked.');
          say(session, command);
          return null;
        }
        case 'data':
          if (refusal) {
            // Where the server waits for content that it must not get, the end of the connection tells it so.
            return { ...refusal, in_step: refusal.in_step && !text.startsWith('3') && !text.startsWith('421') };
          }
          if (text.startsWith('2')) return lost('The server did not answer DATA with 354.');
          if (!text.startsWith('3')) return judgeReply(text);
          if (replies.rest() !== '') return lost('The server answered before it had the message.');
          if (envelope.before_content) {
            moveTo('content', timeouts.content_ms);
            void askBefore(envelope.before_content);
          } else beginContent();
          return null;
        case 'content':
        case 'after_dot':
          return judgeReply(text);
      }
    }

    async function askBefore(before_content: () => Promise<boolean>): Promise<void> {
      const allowed = await before_content().catch(() => false);
      if (allowed) beginContent();
      else finish(lost('Nothing was sent: the attempt could not be recorded beforehand.'));
    }

    function beginContent(): void {
      content_started = performance.now();
      sendContent(wireContent(raw), 0);
    }

    /** A mail of one chunk leaves in one write, its dot included; a long one goes on when the socket has room. */
    function sendContent({ content, ending }: WireContent, from: number): void {
      if (settled) return;
      const end = from + CHUNK_SIZE;
      if (end < content.length) {
        if (from === 0) moveTo('content', timeouts.content_ms);
        socket.write(content.subarray(from, end), (error) => {
          if (!error) sendContent({ content, ending }, end);
        });
        return;
      }
      // Written, the dot may reach the server at any time; the server can have it once the kernel has.
      moveTo('after_dot', timeouts.after_dot_ms);
      socket.cork();
      socket.write(from === 0 ? content : content.subarray(from));
      socket.write(ending, (error) => {
        dot_flushed = !error;
      });
      socket.uncork();
    }

    function moveTo(next: Position, allowed_ms: number): void {
      position = next;
      if (allowed_ms === allowed) {
        deadline.refresh();
        return;
      }
      allowed = allowed_ms;
      clearTimeout(deadline);
      deadline = setTimeout(expire, allowed_ms);
    }

    function expire(): void {
      finish(lost(`No answer in time (${position.replace('_', ' ')}).`));
    }

    function onAbort(): void {
      // After the dot the server may already have taken the mail, so its answer is awaited.
      if (position !== 'after_dot') finish(lost(ABORTED));
    }

    function finish(judgement: Judgement): void {
      if (settled) return;
      settled = true;
      clearTimeout(deadline);
      signal.removeEventListener('abort', onAbort);
      session.listener = SILENT;
      const now = performance.now();
      if (!judgement.in_step || replies.rest() !== '') discard(session);
      resolve({
        ...judgement,
        mail_ms: (content_started || now) - started,
        data_ms: content_started ? now - content_started : 0,
      });
    }

    /** Over without an answer that decides. Only a server that has the whole mail can have accepted it. */
    function lost(error: string): Judgement {
      if (refusal) return { ...refusal, in_step: false };
      const kind = position === 'after_dot' && dot_flushed ? 'unknown' : 'deferred';
      return { kind, reply: null, error, stage: stageOf(position), stale: false, in_step: false };
    }

    function judgeEnd(error: SMTPError | null): Judgement {
      // A session that ends may still carry its last words: a refusal cut off by the close.
      const rest = replies.rest().trim();
      if (LAST_WORDS.test(rest)) return { ...judgeReply(rest), in_step: false };
      return { ...lost(describe(error)), stale: reused && reply_count === 0 };
    }

    function judgeReply(text: string): Judgement {
      const reply = readReply(text);
      if (reply === null || (reply.code >= 300 && reply.code < 400)) {
        return lost(`Not an answer: ${cleanRemoteText(text).slice(0, 100)}`);
      }
      if (reply.code < 300) {
        // An acceptance before the dot answers something else: the session is out of step.
        if (position !== 'after_dot') return lost('The server answered before it had the message.');
        return { kind: 'accepted', reply, error: null, stage: 'after_dot', stale: false, in_step: true };
      }
      return {
        // 503 says that the session is out of step, not that the mail is refused.
        kind: reply.code >= 500 && reply.code !== 503 ? 'rejected' : 'deferred',
        reply,
        error: null,
        stage: stageOf(position),
        stale: reply.code === 421 && reused && reply_count <= 1,
        in_step: reply.code !== 421 && reply.code !== 503 && position !== 'content',
      };
    }
  });
}

function mailCommand({ from, to }: Envelope, size: number, { size: sized, smtputf8 }: Abilities): string {
  const utf8 = smtputf8 && (NOT_ASCII.test(from) || NOT_ASCII.test(to)) ? ' SMTPUTF8' : '';
  return `MAIL FROM:<${from}>${utf8}${sized ? ` SIZE=${size}` : ''}`;
}

/** Why a mail is not offered to this server at all. */
function problemOf({ from, to }: Envelope, raw: Buffer, { max_size }: Abilities): Judgement | null {
  const unsent = { kind: 'deferred', reply: null, error: null, stage: 'mail', stale: false, in_step: true } as const;
  // Addresses were parsed long before; here one more command or parameter would slip in.
  if (NOT_IN_A_PATH.test(from)) return { ...unsent, error: 'The sender is no address.' };
  if (to === '' || NOT_IN_A_PATH.test(to)) return { ...unsent, error: 'The recipient is no address.' };
  if (max_size === 0 || raw.length <= max_size) return null;
  // In the words that the server would have used.
  const text = `Not sent: Message size larger than allowed ${max_size}`;
  return { ...unsent, kind: 'rejected', reply: { code: 552, enhanced: '5.3.4', text } };
}

function stageOf(position: Position): SendStage {
  return position === 'content' ? 'data' : position;
}
