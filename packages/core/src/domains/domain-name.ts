import { canonicalDomain } from '@postrider/mail';
import { getDomain, parse } from 'tldts';
import { AppError } from '../errors.ts';

// Names under which Google, Microsoft, Yahoo with AOL, Apple, Proton, GMX with WEB.DE, Yandex, Mail.ru, NetEase and
// Tencent give mailboxes to anybody, by their own sign-up pages. Only they can prove these, so a refusal is a better
// answer than records that can never be right; a name that is not listed is merely never verified.
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
/** Names that the service itself answers for. */
const reserved = new Set(['sandbox.test', 'simulator.test']);
// A selector of 63 and "._domainkey." before it still make a name of at most 253.
const LONGEST_NAME = 253 - 63 - '._domainkey.'.length;

/** Why nobody can send from a name, which is canonical already; or null. */
export function nameProblem(name: string, own_hosts: readonly string[]): AppError | null {
  const refuse = (message: string) => new AppError('domain_not_allowed', message);
  if (name.length > LONGEST_NAME) return refuse(`A sending domain has at most ${LONGEST_NAME} characters.`);
  if (reserved.has(name)) return refuse(`${name} belongs to this service; add a domain of yours.`);
  if (own_hosts.includes(name))
    return refuse(`${name} is the host of this service itself; add a domain that mail is from.`);
  if (freemail.has(name)) return refuse(`${name} belongs to a mailbox provider; add a domain whose DNS is yours.`);
  if (parse(name, { allowPrivateDomains: true }).publicSuffix === name) {
    return refuse(`${name} is a public suffix, under which others register; add a domain below it.`);
  }
  return null;
}

/** How the part before the zone is written in a provider's form; @ is the zone itself. */
export function hostInZone(fqdn: string, name: string): string {
  const zone = getDomain(name, { allowPrivateDomains: true }) ?? name;
  return fqdn === zone ? '@' : fqdn.slice(0, -zone.length - 1);
}

/** A label, or a whole name, below a domain; null for anything else. */
export function nameBelow(text: string, domain: string): string | null {
  const whole = canonicalDomain(text);
  if (whole?.endsWith(`.${domain}`)) return whole;
  return text.includes('.') ? null : canonicalDomain(`${text}.${domain}`);
}
