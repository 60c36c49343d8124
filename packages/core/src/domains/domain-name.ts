import { canonicalDomain } from '@postrider/mail';
import { getDomain, parse } from 'tldts';
import { AppError } from '../operation/errors.ts';

// Public mailbox domains of Google, Microsoft, Yahoo with AOL, Apple, Proton, GMX with WEB.DE, Yandex, Mail.ru, NetEase
// and Tencent, from their sign-up pages. Only the provider can prove these domains, so rejecting them beats showing
// records that can never be right; an unlisted one simply never gets verified.
const freemail = new Set([
  'aol.com',
  'gmail.com',
  'gmx.de',
  'gmx.net',
  'googlemail.com',
  'hotmail.com',
  'icloud.com',
  'live.com',
  'mail.ru',
  'me.com',
  'msn.com',
  'outlook.com',
  'proton.me',
  'protonmail.com',
  'qq.com',
  'web.de',
  'yahoo.com',
  'yandex.ru',
  'ymail.com',
  '163.com',
]);
/** Names used by the service itself. */
const reserved = new Set(['sandbox.test', 'simulator.test']);
// Leaves room for a selector of 63 characters and "._domainkey." within 253.
const MAX_NAME_LENGTH = 253 - 63 - '._domainkey.'.length;

/** Returns the error if a canonical name cannot be a sending domain; null otherwise. */
export function nameProblem(name: string, own_hosts: readonly string[]): AppError | null {
  const refuse = (message: string) => new AppError('domain_not_allowed', message);
  if (name.length > MAX_NAME_LENGTH) return refuse(`A sending domain has at most ${MAX_NAME_LENGTH} characters.`);
  if (reserved.has(name)) return refuse(`${name} is reserved. Add your own domain.`);
  if (own_hosts.includes(name))
    return refuse(`${name} is the host name of this service. Add the domain of your From addresses.`);
  if (freemail.has(name)) return refuse(`${name} belongs to a mailbox provider. Add a domain whose DNS you control.`);
  if (parse(name, { allowPrivateDomains: true }).publicSuffix === name) {
    return refuse(`${name} is a public suffix. Add a domain registered under it.`);
  }
  return null;
}

/** Returns a name relative to its zone, as in a provider's form; @ is the zone itself. */
export function hostInZone(fqdn: string, name: string): string {
  const zone = getDomain(name, { allowPrivateDomains: true }) ?? name;
  return fqdn === zone ? '@' : fqdn.slice(0, -zone.length - 1);
}

/** Parses a label or a full name below a domain; returns null for anything else. */
export function nameBelow(text: string, domain: string): string | null {
  const full_name = canonicalDomain(text);
  if (full_name?.endsWith(`.${domain}`)) return full_name;
  return text.includes('.') ? null : canonicalDomain(`${text}.${domain}`);
}
