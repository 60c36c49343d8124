import { randomFillSync } from 'node:crypto';
import { ID_ALPHABET, ID_CHARS, ID_TIME_CHARS, type IdKind, idPrefixes, kindNumbers } from '@postrider/db';

export { type IdKind, idPrefixes, isId } from '@postrider/db';

const TIME_CHARS = ID_TIME_CHARS;
const RANDOM_CHARS = ID_CHARS - ID_TIME_CHARS;
const JOB_ID_BYTES = 16;
// Encodes two characters at a time, because each message needs four ids.
const PAIRS = Array.from(
  { length: 1024 },
  (_, index) => (ID_ALPHABET[index >> 5] ?? '') + (ID_ALPHABET[index & 31] ?? ''),
);
const pool = Buffer.alloc(8192);
let used = pool.length;

/** Reserves `count` fresh random bytes in the pool and returns their offset. */
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
    text = ID_ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

let lastMs = -1;
let lastTime = '';

/**
 * Generates an id: a prefix, 48 bits of time, and 80 more bits. 69 of the 80 are random; the other 11 hold the UUID
 * version and variant, and the kind.
 */
export function newId(kind: IdKind, now_ms: number): string {
  if (now_ms !== lastMs) {
    lastMs = now_ms;
    lastTime = encodeTime(now_ms);
  }
  const start = takeRandom(RANDOM_CHARS);
  // The first four of the 80 bits contain version 8 of RFC 9562; two bits of the fourth character contain the variant.
  pool[start] = 16 | ((pool[start] ?? 0) & 1);
  pool[start + 3] = 0b01000 | ((pool[start + 3] ?? 0) & 0b10011);
  pool[start + RANDOM_CHARS - 1] = kindNumbers[kind];
  let id = idPrefixes[kind] + lastTime;
  for (let at = start; at < start + RANDOM_CHARS; at += 2) {
    id += PAIRS[(((pool[at] ?? 0) & 31) << 5) | ((pool[at + 1] ?? 0) & 31)];
  }
  return id;
}

/** Generates a version 7 UUID (RFC 9562) for a job row: time order makes the queue's index grow at one end. */
export function newJobId(now_ms: number): string {
  const start = takeRandom(JOB_ID_BYTES);
  pool.writeUIntBE(now_ms, start, 6);
  pool[start + 6] = 0x70 | ((pool[start + 6] ?? 0) & 0x0f);
  pool[start + 8] = 0x80 | ((pool[start + 8] ?? 0) & 0x3f);
  const hex = pool.toString('hex', start, start + JOB_ID_BYTES);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Returns the smallest possible id of a kind at a given time, as a bound for partitions and pruning. */
export function idFloor(kind: IdKind, now_ms: number): string {
  return idPrefixes[kind] + encodeTime(Math.max(0, now_ms));
}

/** Returns the creation time encoded in an id. */
export function idTime(id: string): number {
  const start = id.indexOf('_') + 1;
  let ms = 0;
  for (const char of id.slice(start, start + TIME_CHARS)) ms = ms * 32 + ID_ALPHABET.indexOf(char);
  return ms;
}
