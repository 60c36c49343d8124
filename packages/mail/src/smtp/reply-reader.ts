export interface ReplyReader {
  push(chunk: Buffer): void;
  /** Returns output that is incomplete or has not been read yet. Empty while client and server are in step. */
  rest(): string;
}

const MAX_REPLY_SIZE = 64 * 1024;
const PARTIAL_LINE = /^\d{3}-/;
const NOT_ASCII = /[\x80-\xff]/;

/** Creates a reader that splits a server's output into single-line or multi-line replies. Empty lines are ignored. */
export function createReplyReader(on_reply: (reply: string) => void, on_too_long: () => void): ReplyReader {
  let text = '';
  // The start of the unfinished line. The lines before it are a partial reply and have already been checked.
  let line_start = 0;
  let given_up = false;

  function endOfReply(): number {
    for (;;) {
      const end = text.indexOf('\n', line_start);
      if (end < 0) return -1;
      const partial = PARTIAL_LINE.test(text.slice(line_start, line_start + 4));
      line_start = end + 1;
      if (!partial) return line_start;
    }
  }

  return {
    push(chunk) {
      if (given_up) return;
      text += chunk.toString('latin1');
      for (let end = endOfReply(); end >= 0 && end <= MAX_REPLY_SIZE; end = endOfReply()) {
        const reply = text.slice(0, end).trimEnd();
        text = text.slice(end);
        line_start = 0;
        if (reply !== '') on_reply(decoded(reply));
      }
      if (text.length <= MAX_REPLY_SIZE) return;
      given_up = true;
      on_too_long();
    },
    rest: () => decoded(text),
  };
}

/** Decodes a reply: ASCII, or UTF-8 since RFC 6531. */
function decoded(bytes: string): string {
  return NOT_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;
}
