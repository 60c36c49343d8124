import type { Mailbox } from './address.ts';

const PLAIN_NAME = /^[^\s"(),.:;<>@[\\\]]+(?: [^\s"(),.:;<>@[\\\]]+)*$/;

/** Formats a mailbox as text that parseMailbox reads back into the same mailbox. */
export function formatMailbox({ name, email }: Pick<Mailbox, 'name' | 'email'>): string {
  if (name === null || name === '') return email;
  return PLAIN_NAME.test(name) ? `${name} <${email}>` : `"${name.replace(/["\\]/g, '\\$&')}" <${email}>`;
}
