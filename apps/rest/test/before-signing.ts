/** Returns the message below its signatures, which is the part that was signed. */
export function beforeSigning(raw: Buffer): string {
  return raw.toString('latin1').replace(/^(?:DKIM-Signature: .*\r\n(?: .*\r\n)*)+/, '');
}
