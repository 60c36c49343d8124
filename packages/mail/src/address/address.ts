import { domainToASCII, domainToUnicode } from 'node:url';
import { holdsControl } from '../compose/header-rules.ts';

/** One parsed address. The domain is canonical, so two spellings of one domain compare equal as text. */
export interface Mailbox {
  readonly name: string | null;
  readonly local: string;
  readonly domain: string;
  readonly email: string;
}

export type ParsedMailbox = { ok: true; mailbox: Mailbox } | { ok: false; message: string };

const MAX_TEXT_LENGTH = 998;
// Even with every character escaped and followed by the longest address, a name of this length fits MAX_TEXT_LENGTH.
const MAX_NAME_LENGTH = 320;
const MAX_LOCAL_LENGTH = 64;
const MAX_DOMAIN_LENGTH = 253;

const FORM = 'Use one address, such as a@example.com or Name <a@example.com>.';

// RFC 5321 section 4.1.2, Dot-string: atoms of RFC 5322 atext joined by single dots.
const DOT_ATOM = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const LDH_DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
// URL parsers treat a name whose last label reads as a number as an IPv4 address, including 0x7f.1.
const NUMERIC_LAST_LABEL = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/;
const A_LABEL = /(?:^|\.)xn--/;
const ASCII_LETTERS_ONLY = /^[A-Za-z0-9.-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the class is the whole of ASCII without letters, digits, dot and hyphen.
const ASCII_OUTSIDE_DOMAIN = /[\x00-\x2c/\x3a-\x40\x5b-\x60\x7b-\x7f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the class is the whole of ASCII.
const NON_ASCII = /[^\x00-\x7f]/;
const PHRASE_SPECIALS = /[()<>[\]:;@\\,"]/;
const QUOTED_NAME = /^"((?:[^"\\]|\\.)*)"$/u;

/**
 * Returns the canonical spelling in which domains are stored and compared: UTS-46 non-transitional A-labels, lower
 * case, without a trailing dot. Returns null if the text is not a full domain name.
 */
export function canonicalDomain(text: string): string | null {
  if (text.length === 0 || text.length > MAX_DOMAIN_LENGTH + 1) return null;
  let domain = text;
  if (ASCII_LETTERS_ONLY.test(text)) {
    domain = text.toLowerCase();
    if (domain.includes('xn--')) {
      // A label that does not decode, or decodes to something UTS-46 forbids, stays encoded and is rejected.
      const decoded = domainToUnicode(domain);
      if (A_LABEL.test(decoded)) return null;
      domain = domainToASCII(decoded);
    }
  } else {
    if (ASCII_OUTSIDE_DOMAIN.test(text)) return null;
    domain = domainToASCII(text);
  }
  if (domain.endsWith('.')) domain = domain.slice(0, -1);
  if (domain.length > MAX_DOMAIN_LENGTH || !LDH_DOMAIN.test(domain) || NUMERIC_LAST_LABEL.test(domain)) return null;
  return domain;
}

/** Parses exactly one mailbox. Lists, groups, comments, routes, quoted local parts and literals are rejected. */
export function parseMailbox(text: string): ParsedMailbox {
  if (text.length > MAX_TEXT_LENGTH) return refuse(`An address can have up to ${MAX_TEXT_LENGTH} characters.`);
  if (text.endsWith('>') || text.includes('<')) return parseNamed(text);
  return parseBare(text, null);
}

function parseNamed(text: string): ParsedMailbox {
  if (holdsControl(text)) return refuse(controlProblem());
  const trimmed = text.trim();
  const open = trimmed.lastIndexOf('<');
  if (!trimmed.endsWith('>') || open < 0) return refuse(FORM);
  const name = parseName(trimmed.slice(0, open).trim());
  if (name.refusal !== undefined) return refuse(name.refusal);
  if (name.text !== null && name.text.length > MAX_NAME_LENGTH) {
    return refuse(`The name before an address can have up to ${MAX_NAME_LENGTH} characters.`);
  }
  return parseBare(trimmed.slice(open + 1, -1), name.text);
}

function parseName(phrase: string): { text: string | null; refusal?: string } {
  if (phrase === '') return { text: null };
  if (!phrase.isWellFormed()) return { text: null, refusal: 'The name contains half of a surrogate pair.' };
  const quoted = QUOTED_NAME.exec(phrase);
  if (quoted) return { text: (quoted[1] ?? '').replace(/\\(.)/gu, '$1').trim() || null };
  if (PHRASE_SPECIALS.test(phrase)) {
    return {
      text: null,
      refusal: `${FORM} A name with any of ()<>[]:;@\\," must be in double quotes, such as "Doe, Jane" <a@example.com>.`,
    };
  }
  return { text: phrase };
}

function parseBare(address: string, name: string | null): ParsedMailbox {
  if (address.trim() !== address && !holdsControl(address)) {
    return refuse('Remove the space before or after the address.');
  }
  const at = address.lastIndexOf('@');
  const local = address.slice(0, Math.max(at, 0));
  if (at < 1 || at === address.length - 1) return refuse(holdsControl(address) ? controlProblem() : FORM);
  if (!DOT_ATOM.test(local)) return refuse(localProblem(local, address));
  if (local.length > MAX_LOCAL_LENGTH) {
    return refuse(`The part before @ can have up to ${MAX_LOCAL_LENGTH} characters.`);
  }
  const domain = canonicalDomain(address.slice(at + 1));
  if (domain === null) return refuse(domainProblem(address.slice(at + 1)));
  return { ok: true, mailbox: { name, local, domain, email: `${local}@${domain}` } };
}

function localProblem(local: string, address: string): string {
  if (holdsControl(address)) return controlProblem();
  if (local.startsWith('"')) return 'A quoted part before @ is not supported.';
  if (NON_ASCII.test(local)) {
    return 'Letters such as ö or 用 before the @ are not supported. Only the name and the domain can contain them.';
  }
  if (/[,;:@]/.test(local)) return FORM;
  if (/\s/.test(local)) return 'With a name, the address goes in angle brackets, as in Name <a@example.com>.';
  return "The part before @ can contain letters, digits, single inner dots and !#$%&'*+/=?^_`{|}~- only.";
}

function domainProblem(domain: string): string {
  if (holdsControl(domain)) return controlProblem();
  if (domain.startsWith('[')) return 'An address literal in brackets is not supported. Use a domain name.';
  if (/[\s,;()]/.test(domain)) return FORM;
  return 'The part after @ must be a full domain name such as example.com.';
}

function controlProblem(): string {
  return 'An address must not contain line breaks or other control characters.';
}

function refuse(message: string): ParsedMailbox {
  return { ok: false, message };
}
