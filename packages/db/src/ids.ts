// An id has 128 bits: 48 of time, 69 random ones, and 11 that mark it as an id and encode its kind. Postgres stores it
// as a uuid; everything else uses a string with a prefix. docs/decisions/0022-ids-are-uuids.md describes the layout.

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
  import: 'imp_',
  erasure: 'ers_',
  invitation: 'inv_',
  transport: 'trn_',
} as const;
export type IdKind = keyof typeof idPrefixes;

/**
 * The kind is stored in the last five bits, which form one base32 letter. The SQL function id_prefix() has the same
 * table.
 */
export const kindNumbers: Readonly<Record<IdKind, number>> = {
  message: 1,
  recipient: 2,
  attempt: 3,
  event: 4,
  api_key: 5,
  domain: 6,
  webhook: 7,
  webhook_delivery: 8,
  suppression: 9,
  request: 10,
  workspace: 11,
  user: 12,
  hold: 13,
  audit: 14,
  bulk: 15,
  job: 16,
  capture: 17,
  dkim_key: 18,
  session: 19,
  alarm: 20,
  import: 21,
  erasure: 22,
  invitation: 23,
  transport: 24,
};

/** Crockford's base32 in lower case. Its order is ASCII order, so ids sort by time both as strings and as uuids. */
export const ID_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** How many of the 26 characters after the prefix hold the time. */
export const ID_TIME_CHARS = 10;
export const ID_CHARS = 26;
const PREFIX_CHARS = 4;

/**
 * Stands for a missing id in a column that does not allow null, such as the workspace of something that belongs to the
 * instance.
 */
const NIL = '00000000-0000-0000-0000-000000000000';
/** Greater than every id. Text that is not an id is looked up as this value, which no row has. */
const MAX = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

// Indexed by the number of the kind, and by the code of the last character.
const prefixFor: (string | undefined)[] = [];
for (const [kind, number] of Object.entries(kindNumbers)) {
  // Object.entries loses the key type of the record.
  prefixFor[number] = idPrefixes[kind as IdKind];
}

const VALUES = new Uint8Array(128).fill(255);
for (const [value, char] of [...ID_ALPHABET].entries()) VALUES[char.charCodeAt(0)] = value;
const HEX_VALUES = new Uint8Array(128);
for (const [value, char] of [...'0123456789abcdef'].entries()) HEX_VALUES[char.charCodeAt(0)] = value;

const hexTable = (chars: number) =>
  Array.from({ length: 16 ** chars }, (_, value) => value.toString(16).padStart(chars, '0'));
const HEX_2 = hexTable(2);
const PAIRS = Array.from({ length: 1024 }, (_, n) => (ID_ALPHABET[n >> 5] ?? '') + (ID_ALPHABET[n & 31] ?? ''));

// Each string is written into this buffer byte by byte, because concatenation would leave ropes that each later use has
// to flatten.
const scratch = Buffer.from(NIL, 'latin1');
/** The position of each hexadecimal digit in the text of a uuid. */
const PLACES = Uint8Array.from([...NIL].flatMap((char, at) => (char === '-' ? [] : [at])));
const HEX_CODES = Uint8Array.from('0123456789abcdef', (char) => char.charCodeAt(0));

/** Returns the uuid encoded by 26 letters, or null if they do not fit 128 bits. */
function uuidOf(text: string): string | null {
  // 26 letters are 130 bits, of which the first two must be zero.
  let bits = VALUES[text.charCodeAt(PREFIX_CHARS)] ?? 255;
  let count = 3;
  if (bits > 7) return null;
  let place = 0;
  for (let at = PREFIX_CHARS + 1; at < PREFIX_CHARS + ID_CHARS; at++) {
    const value = VALUES[text.charCodeAt(at)] ?? 255;
    if (value > 31) return null;
    bits = (bits << 5) | value;
    count += 5;
    while (count >= 4) {
      count -= 4;
      scratch[PLACES[place++] ?? 0] = HEX_CODES[bits >> count] ?? 0;
      bits &= (1 << count) - 1;
    }
  }
  return scratch.toString('latin1');
}

/** Returns whether an id has our marks: version 8 of RFC 9562, its variant, and the kind that its prefix names. */
function isMarked(text: string): boolean {
  const version = VALUES[text.charCodeAt(PREFIX_CHARS + ID_TIME_CHARS)] ?? 255;
  const variant = VALUES[text.charCodeAt(PREFIX_CHARS + ID_TIME_CHARS + 3)] ?? 255;
  const kind = VALUES[text.charCodeAt(PREFIX_CHARS + ID_CHARS - 1)] ?? 255;
  const prefix = prefixFor[kind];
  return version >> 1 === 8 && (variant & 0b01100) === 0b01000 && prefix !== undefined && text.startsWith(prefix);
}

const BOUND = /^[a-z]{3}_([0-9a-hjkmnp-tv-z]{10})0*$/;

/**
 * Converts an id to a uuid for a parameter. A uuid stays unchanged, the empty string becomes the nil uuid, an id that
 * is the lower bound of a time becomes the smallest uuid of that time, and an id followed by `!` becomes the next uuid.
 * Anything else that is not one of our ids matches nothing.
 */
export function uuidOfId(text: string): string {
  if (text.length === NIL.length && UUID.test(text)) return text;
  if (text.length === PREFIX_CHARS + ID_CHARS && isMarked(text)) return uuidOf(text) ?? MAX;
  return unusualUuid(text);
}

function unusualUuid(text: string): string {
  if (text === '') return NIL;
  if (text.startsWith(idPrefixes.job) && text.length === PREFIX_CHARS + ID_CHARS) return uuidOf(text) ?? MAX;
  if (text.length === PREFIX_CHARS + ID_CHARS + 1 && text.endsWith('!')) {
    const uuid = isMarked(text) ? uuidOf(text.slice(0, -1)) : null;
    // The last five bits are a kind, and no kind uses the highest number, so adding one never carries.
    return uuid === null ? MAX : uuid.slice(0, -2) + HEX_2[Number.parseInt(uuid.slice(-2), 16) + 1];
  }
  const [, time] = BOUND.exec(text) ?? [];
  return time === undefined ? MAX : (uuidOf(`bnd_${time}${'0'.repeat(ID_CHARS - ID_TIME_CHARS)}`) ?? MAX);
}

/** Each group of four letters comes from five hexadecimal digits, which may have hyphens between them. */
const GROUPS = [
  [2, 3, 4, 5, 6],
  [7, 9, 10, 11, 12],
  [14, 15, 16, 17, 19],
  [20, 21, 22, 24, 25],
  [26, 27, 28, 29, 30],
  [31, 32, 33, 34, 35],
] as const;

/**
 * Converts a uuid returned by Postgres to an id. A uuid that is not one of our ids, such as a lease, stays unchanged.
 */
export function idOfUuid(uuid: string): string {
  if (uuid.charCodeAt(8) !== 45) return uuid;
  // Version 8, and the variant of RFC 9562. Leases and jobs have other versions.
  if (uuid.charCodeAt(14) !== 56 || (hexAt(uuid, 19) & 0b1100) !== 0b1000) return uuid === NIL ? '' : uuid;
  const prefix = prefixFor[((hexAt(uuid, 34) << 4) | hexAt(uuid, 35)) & 31];
  if (prefix === undefined) return uuid;
  let id = prefix + PAIRS[(hexAt(uuid, 0) << 4) | hexAt(uuid, 1)];
  for (const [a, b, c, d, e] of GROUPS) {
    const value =
      (hexAt(uuid, a) << 16) | (hexAt(uuid, b) << 12) | (hexAt(uuid, c) << 8) | (hexAt(uuid, d) << 4) | hexAt(uuid, e);
    id += (PAIRS[value >> 10] ?? '') + (PAIRS[value & 1023] ?? '');
  }
  return id;
}

function hexAt(uuid: string, at: number): number {
  return HEX_VALUES[uuid.charCodeAt(at)] ?? 0;
}

/** Returns whether a string is an id of this kind that we may have created. */
export function isId(kind: IdKind, text: string): boolean {
  return (
    text.length === PREFIX_CHARS + ID_CHARS &&
    text.startsWith(idPrefixes[kind]) &&
    isMarked(text) &&
    uuidOf(text) !== null
  );
}

/** Returns the three-letter prefix of the kind if a string is an id, otherwise null. */
export function idKindOf(text: string): string | null {
  if (text.length !== PREFIX_CHARS + ID_CHARS || uuidOf(text) === null) return null;
  // A job's id is assigned by the queue and lacks our marks.
  return isMarked(text) || text.startsWith(idPrefixes.job) ? text.slice(0, PREFIX_CHARS - 1) : null;
}
