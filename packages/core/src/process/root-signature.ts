import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

// A process signs with SECRET_KEY and SECRET_KEY_PREVIOUS, for a few purposes.
const MAX_KEYS = 32;
const keys = new Map<string, KeyObject>();

/** Signs a text with the root key. A signature for one purpose is not valid for another. */
export function rootSignature(secret_key: string, purpose: string, text: string): Buffer {
  return createHmac('sha256', keyOf(`${purpose} ${secret_key}`))
    .update(text)
    .digest();
}

/** Returns a key that is prepared once, because preparing it takes four times as long as signing. */
function keyOf(material: string): KeyObject {
  let key = keys.get(material);
  if (!key) {
    if (keys.size >= MAX_KEYS) keys.clear();
    key = createSecretKey(material, 'utf8');
    keys.set(material, key);
  }
  return key;
}
