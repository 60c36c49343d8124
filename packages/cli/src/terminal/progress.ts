import type { Terminal } from './terminal.ts';

const WIDTH = 24;

export interface Progress {
  /** Redraws the bar, if there is a terminal. */
  show(done: number, total: number): void;
  /** Shows progress when the total is unknown. */
  tell(words: string): void;
  /** Clears the line for the next output. */
  end(): void;
}

/** Shows a progress bar on a terminal, and nothing elsewhere. */
export function progressOf(terminal: Terminal, label: string): Progress {
  const { draw } = terminal;
  if (!draw) return { show() {}, tell() {}, end() {} };
  return {
    show(done, total) {
      const part = total === 0 ? 1 : Math.min(1, done / total);
      const filled = Math.round(part * WIDTH);
      draw(`\r${label} [${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}] ${done} of ${total} `);
    },
    tell(words) {
      draw(`\r${label}: ${words} `);
    },
    end() {
      draw('\r\u001b[K');
    },
  };
}
