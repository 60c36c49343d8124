import { randomFillSync } from 'node:crypto';

export const idPrefixes = {
  message: 'msg_',
  recipient: 'rcp_',
  attempt: 'att_',
  event: 'evt_',
  api_key: 'key_',
  domain: 'dom_',
  webhook: 'whk_',
  webhook_delivery: 'whd_',
  suppression: 'sup_',
  request: 'req_',
  workspace: 'wsp_',
  user: 'usr_',
  hold: 'hld_',
  audit: 'aud_',
  bulk: 'blk_',
  job: 'job_',
  capture: 'cap_',
  dkim_key: 'dkk_',
  session: 'ses_',
  alarm: 'alm_',
} as const;
export type IdKind = keyof typeof idPrefixes;

// Crockford's base32 in lower case: its order is ASCII order, so ids sort by time under collate "C".
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARS = 10;
const RANDOM_CHARS = 16;
const JOB_ID_BYTES = 16;
// Two characters at a time, because each mail makes four ids.
const PAIRS = Array.from({ length: 1024 }, (_, index) => (ALPHABET[index >> 5] ?? '') + (ALPHABET[index & 31] ?? ''));
const pool = Buffer.alloc(8192);
let used = pool.length;

/** Where a number of fresh random bytes begins in the pool. */
function takeRandom(count: number): number {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const start = used;
  used += count;
  return start;
}

function encodeTime(ms: number): string {
  let text = '';
  let rest = ms;
  for (let index = 0; index < TIME_CHARS; index++) {
    text = ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

let lastMs = -1;
let lastTime = '';

/** A prefix, 48 bits of time and 80 random bits. */
export function newId(kind: IdKind, now_ms: number): string {
  if (now_ms !== lastMs) {
    lastMs = now_ms;
    lastTime = encodeTime(now_ms);
  }
  const start = takeRandom(RANDOM_CHARS);
  let id = idPrefixes[kind] + lastTime;
  for (let at = start; at < start + RANDOM_CHARS; at += 2) {
    id += PAIRS[(((pool[at] ?? 0) & 31) << 5) | ((pool[at + 1] ?? 0) & 31)];
  }
  return id;
}

/** A version 7 UUID (RFC 9562) for a job row: time order makes the queue's index grow at one end. */
export function newJobId(now_ms: number): string {
  const start = takeRandom(JOB_ID_BYTES);
  pool.writeUIntBE(now_ms, start, 6);
  pool[start + 6] = 0x70 | ((pool[start + 6] ?? 0) & 0x0f);
  pool[start + 8] = 0x80 | ((pool[start + 8] ?? 0) & 0x3f);
  const hex = pool.toString('hex', start, start + JOB_ID_BYTES);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The smallest id of a kind at a time: a bound for partitions and for pruning. */
export function idFloor(kind: IdKind, now_ms: number): string {
  return idPrefixes[kind] + encodeTime(Math.max(0, now_ms));
}

/** The creation time that an id carries. */
export function idTime(id: string): number {
  const start = id.indexOf('_') + 1;
  let ms = 0;
  for (const char of id.slice(start, start + TIME_CHARS)) ms = ms * 32 + ALPHABET.indexOf(char);
  return ms;
}

export function isId(kind: IdKind, text: string): boolean {
  const prefix = idPrefixes[kind];
  return text.startsWith(prefix) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(prefix.length));
}
