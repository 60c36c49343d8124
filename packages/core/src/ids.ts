import { randomBytes, randomFillSync } from 'node:crypto';

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
} as const;
export type IdKind = keyof typeof idPrefixes;

// Crockford's base32 in lower case: its order is ASCII order, so ids sort by time under collate "C".
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARS = 10;
const RANDOM_CHARS = 16;
const pool = Buffer.alloc(8192);
let used = pool.length;

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

/** A prefix, 48 bits of time and 80 random bits; the same string in URLs, logs, psql and webhooks. */
export function newId(kind: IdKind, now_ms: number): string {
  if (now_ms !== lastMs) {
    lastMs = now_ms;
    lastTime = encodeTime(now_ms);
  }
  if (used + RANDOM_CHARS > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  let random = '';
  for (let index = 0; index < RANDOM_CHARS; index++) random += ALPHABET[(pool[used++] ?? 0) & 31];
  return idPrefixes[kind] + lastTime + random;
}

/** A version 7 UUID (RFC 9562) for a job row: its time keeps the queue's index growing at one end. */
export function newJobId(now_ms: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now_ms, 0, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString('hex');
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
