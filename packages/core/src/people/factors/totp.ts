import { randomBytes } from 'node:crypto';
import type { TOTP } from 'otpauth';

const PERIOD_SECONDS = 30;
/** Clocks of phones differ, and people type slowly: one step either side. */
const WINDOW_STEPS = 1;
const SECRET_BYTES = 20;

export const CODE_PATTERN = /^\d{6}$/;

/** Apps show codes in groups, and people type them so. */
export function withoutSpaces(code: string): string {
  return code.replace(/\s/g, '');
}

export function newTotpSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** Returns the purpose under which a person's secret is encrypted. */
export function totpPurpose(user_id: string): string {
  return `totp secret ${user_id}`;
}

/** Returns what an authenticator app needs: as the URL in a QR code, and as text to type. */
export async function totpSetup(secret: Buffer, email: string, public_url: string) {
  const totp = await totpOf(secret, { issuer: `Postrider ${new URL(public_url).hostname}`, label: email });
  return { url: totp.toString(), secret: totp.secret.base32 };
}

/** Returns the step of a code that is right now; null if it is wrong. */
export async function stepOf(secret: Buffer, code: string, now_ms: number): Promise<number | null> {
  const totp = await totpOf(secret);
  const drift_steps = totp.validate({ token: code, timestamp: now_ms, window: WINDOW_STEPS });
  return drift_steps === null ? null : totp.counter({ timestamp: now_ms }) + drift_steps;
}

async function totpOf(
  secret: Buffer,
  names: { readonly issuer?: string; readonly label?: string } = {},
): Promise<TOTP> {
  // Loaded by its first use: it takes 6 MB, and few processes check codes.
  const { Secret, TOTP } = await import('otpauth');
  const bytes = Uint8Array.from(secret);
  return new TOTP({
    ...names,
    algorithm: 'SHA1',
    digits: 6,
    period: PERIOD_SECONDS,
    secret: new Secret({ buffer: bytes.buffer }),
  });
}
