import { TOTP } from 'otpauth';

/** Returns what an authenticator app shows for a secret, as many steps of 30 seconds later as given. */
export function totpCode(secret: string, now_ms: number, steps = 0): string {
  return new TOTP({ secret }).generate({ timestamp: now_ms + steps * 30_000 });
}
