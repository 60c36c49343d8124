import type { Dialogue } from './dialogue.ts';
import type { RenderedMail } from './pool-mail.ts';
import type { Session } from './session.ts';

/** How many idle sessions a group of pools may keep open together, and how many are open. */
export interface SharedAllowance {
  count: number;
  readonly most: number;
}

/** The idle sessions of a pool, each with its dialogue. The most recently used session is taken first. */
export class IdleSessions {
  readonly #dialogues: Dialogue<RenderedMail>[] = [];
  readonly #allowance: SharedAllowance | undefined;

  constructor(allowance: SharedAllowance | undefined) {
    this.#allowance = allowance;
  }

  get count(): number {
    return this.#dialogues.length;
  }

  /** Returns whether the pools together have reached their maximum. */
  isFull(): boolean {
    return this.#allowance !== undefined && this.#allowance.count >= this.#allowance.most;
  }

  add(dialogue: Dialogue<RenderedMail>): void {
    this.#dialogues.push(dialogue);
    this.#count(1);
  }

  /** Returns the most recently used session that has not been closed unnoticed. */
  take(): Dialogue<RenderedMail> | undefined {
    for (let dialogue = this.#dialogues.pop(); dialogue; dialogue = this.#dialogues.pop()) {
      this.#count(-1);
      if (!dialogue.session.ended) return dialogue;
    }
    return undefined;
  }

  /** Removes a session. Returns false if the session is not in the set. */
  remove(session: Session): boolean {
    const place = this.#dialogues.findIndex((dialogue) => dialogue.session === session);
    if (place < 0) return false;
    this.#dialogues.splice(place, 1);
    this.#count(-1);
    return true;
  }

  sessions(): Session[] {
    return this.#dialogues.map(({ session }) => session);
  }

  #count(change: number): void {
    if (this.#allowance) this.#allowance.count += change;
  }
}
