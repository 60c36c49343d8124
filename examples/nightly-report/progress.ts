import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import type { Outcome } from './report.ts';

/** The subscribers whose report of a day is scheduled. Stands in for a column of your database. */
export class Progress {
  readonly #file: string;
  readonly #done: Set<string>;

  constructor(folder: string, day: string) {
    mkdirSync(folder, { recursive: true });
    this.#file = `${folder}/${day}.txt`;
    this.#done = new Set(existsSync(this.#file) ? readFileSync(this.#file, 'utf8').split('\n') : []);
  }

  has(email: string): boolean {
    return this.#done.has(email);
  }

  record(outcomes: readonly Outcome[]): void {
    for (const { email, id } of outcomes) {
      if (id === undefined) continue;
      appendFileSync(this.#file, `${email}\n`);
      this.#done.add(email);
    }
  }
}
