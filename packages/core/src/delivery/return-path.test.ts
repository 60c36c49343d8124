import { describe, expect, it } from 'vitest';
import { newId } from '../fields/ids.ts';
import { readConfig } from '../process/config.ts';
import { readReturnPath, returnPathLocal } from './return-path.ts';

const KEY = 'a'.repeat(64);
const OTHER_KEY = 'b'.repeat(64);
const NOW = Date.UTC(2030, 0, 31);

function readers(secret_key: string, previous?: string) {
  const config = readConfig(previous ? { SECRET_KEY: secret_key, SECRET_KEY_PREVIOUS: previous } : {});
  return { secret_key, config };
}

const key = { message_id: newId('message', NOW), recipient_id: newId('recipient', NOW) };
const local = returnPathLocal(KEY, key);

describe('the local part of the envelope sender', () => {
  it('is a lowercase dot-atom that fits into 64 octets', () => {
    expect(local.length).toBeLessThanOrEqual(64);
    expect(local).toMatch(/^b\+[0-9a-z]+\.[0-9a-f]+$/);
  });

  it('identifies the message and the recipient, ignoring letter case', () => {
    const path = { message_id: key.message_id, recipient_end: key.recipient_id.slice(-16) };

    expect(readReturnPath(readers(KEY), local)).toEqual({ kind: 'ours', path });
    expect(readReturnPath(readers(KEY), local.toUpperCase())).toEqual({ kind: 'ours', path });
  });

  it('is accepted only while its signing key is the current or the previous key', () => {
    expect(readReturnPath(readers(OTHER_KEY, KEY), local).kind).toBe('ours');
    expect(readReturnPath(readers(OTHER_KEY), local).kind).toBe('forged');
  });

  it('is rejected as forged if any character is changed', () => {
    for (let index = 2; index < local.length; index++) {
      const changed = local.slice(0, index) + (local[index] === '0' ? '1' : '0') + local.slice(index + 1);
      expect(readReturnPath(readers(KEY), changed).kind).toBe('forged');
    }
    expect(readReturnPath(readers(KEY), `${local}0`).kind).toBe('forged');
    expect(readReturnPath(readers(KEY), local.slice(0, -1)).kind).toBe('forged');
  });

  it('is treated as foreign if it lacks the marker', () => {
    for (const other of ['postmaster', 'b', 'bounce+x', '', 'a+'.repeat(40)])
      expect(readReturnPath(readers(KEY), other)).toEqual({ kind: 'foreign' });
  });
});
