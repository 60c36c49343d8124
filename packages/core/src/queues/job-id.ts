import { idPrefixes } from '../fields/ids.ts';
import { AppError } from '../operation/errors.ts';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const CHARS = 26;
const FORM = new RegExp(`^${idPrefixes.job}([0-7][${ALPHABET}]{${CHARS - 1}})$`);

/** Returns a job's public id: the UUID of its row, in the alphabet of all other ids. */
export function jobId(uuid: string): string {
  let rest = BigInt(`0x${uuid.replaceAll('-', '')}`);
  let text = '';
  for (let place = 0; place < CHARS; place++) {
    text = ALPHABET[Number(rest & 31n)] + text;
    rest >>= 5n;
  }
  return idPrefixes.job + text;
}

/** Returns the UUID of a job's row; null if the text is not a job id. */
export function jobUuid(id: string): string | null {
  const [, text] = FORM.exec(id) ?? [];
  if (text === undefined) return null;
  let number = 0n;
  for (const char of text) number = (number << 5n) | BigInt(ALPHABET.indexOf(char));
  const hex = number.toString(16).padStart(32, '0');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

export function jobNotFound(id: string): AppError {
  return new AppError('job_not_found', `No job with ID ${id.slice(0, 100)}. Finished jobs are deleted after a while.`);
}
