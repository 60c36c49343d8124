import type { Terminal } from './terminal.ts';

const WIDTH = 24;

export interface Progress {
  /** Draws the bar again, where a terminal shows it. */
  show(done: number, total: number): void;
  /** Says how far it is, where no total is known. */
  tell(words: string): void;
  /** Leaves the line free for what is printed next. */
  end(): void;
}

/** A bar on the terminal, and nothing elsewhere. */
export function progressOf(terminal: Terminal, what: string): Progress {
  const { draw } = terminal;
  if (!draw) return { show() {}, tell() {}, end() {} };
  return {
    show(done, total) {
      const part = total === 0 ? 1 : Math.min(1, done / total);
      const filled = Math.round(part * WIDTH);
      draw(`\r${what} [${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}] ${done} of ${total} `);
    },
    tell(words) {
      draw(`\r${what}: ${words} `);
    },
    end() {
      draw('\r\u001b[K');
    },
  };
}
