import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const TOKEN_LIFETIME_MS = 60 * 60_000;
const MIN_PAUSE_MS = 60_000;

interface Account {
  readonly email: string;
  password: StoredPassword;
  last_request_at: number;
}

interface StoredPassword {
  readonly salt: Buffer;
  readonly hash: Buffer;
}

interface StoredToken {
  readonly account: Account;
  readonly expires_at: number;
}

const derive = promisify<string, Buffer, number, Buffer>(scrypt);
const unknown_account = await storedPassword(randomBytes(16).toString('hex'));

/** Stands in for two tables of your database: accounts by email, and reset tokens by hash. */
export class Accounts {
  readonly #accounts = new Map<string, Account>();
  readonly #tokens = new Map<string, StoredToken>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  async add(email: string, password: string): Promise<void> {
    this.#accounts.set(normalize(email), {
      email,
      password: await storedPassword(password),
      last_request_at: -Infinity,
    });
  }

  /** Returns a new token, or null for an unknown address or a second request within a minute. */
  createToken(email: string): { email: string; token: string } | null {
    const now = this.#now();
    const account = this.#accounts.get(normalize(email));
    if (!account || now - account.last_request_at < MIN_PAUSE_MS) return null;
    account.last_request_at = now;
    const token = randomBytes(32).toString('base64url');
    // A leaked database contains no usable link. The token is random, so one round of SHA-256 is enough.
    this.#tokens.set(hashOf(token), { account, expires_at: now + TOKEN_LIFETIME_MS });
    return { email: account.email, token };
  }

  /** Returns whether the token was valid. */
  async resetPassword(token: string, password: string): Promise<boolean> {
    const stored = this.#tokens.get(hashOf(token));
    if (!stored || stored.expires_at <= this.#now()) return false;
    // Deleted before the first await, so that two requests cannot use one token; in SQL, DELETE … RETURNING.
    for (const [hash, { account }] of this.#tokens) if (account === stored.account) this.#tokens.delete(hash);
    stored.account.password = await storedPassword(password);
    return true;
  }

  async isPassword(email: string, password: string): Promise<boolean> {
    const account = this.#accounts.get(normalize(email));
    // Unknown addresses take as long as known ones.
    const { salt, hash } = account?.password ?? unknown_account;
    return timingSafeEqual(await derive(password, salt, hash.length), hash) && account !== undefined;
  }
}

async function storedPassword(password: string): Promise<StoredPassword> {
  const salt = randomBytes(16);
  return { salt, hash: await derive(password, salt, 64) };
}

function normalize(email: string): string {
  return email.trim().toLowerCase();
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
