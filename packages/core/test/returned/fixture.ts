import type { RefusalCategory } from '../../src/delivery/classify.ts';

/**
 * The expected reading of a returned message about ada@example.net. A bounce is hard or soft, has a category, and may
 * suppress the address.
 */
export type Meaning =
  | `hard ${RefusalCategory} suppress`
  | `hard ${RefusalCategory}`
  | `soft ${RefusalCategory}`
  | 'delay'
  | 'complaint'
  | 'ignored';

/**
 * A family of mail systems, with the meaning, a title and the message. It comes from the null sender unless specified
 * otherwise.
 */
export interface ReturnedFixture {
  readonly family: string;
  readonly meaning: Meaning;
  readonly title: string;
  readonly raw: Buffer;
  readonly from: string;
}

export type Row = readonly [meaning: Meaning, title: string, raw: string | Buffer, from?: string];

export function family(name: string, ...rows: readonly Row[]): ReturnedFixture[] {
  return rows.map(([meaning, title, raw, from = '']) => ({
    family: name,
    meaning,
    title,
    raw: typeof raw === 'string' ? Buffer.from(raw.replace(/\n/g, '\r\n')) : raw,
    from,
  }));
}

/** The beginning of the returned message. */
export const COPY = `Return-Path: <b+0@example.org>
Received: from mail.example.org (mail.example.org [192.0.2.1])
\tby mx.example.net with ESMTP id 4AbC; Thu, 31 Jan 2030 09:00:00 +0000
From: Shop <hello@example.org>
To: ada@example.net
Subject: Your account is full of new offers, unknown user
Message-ID: <1@example.org>

Unsubscribe if this mailbox does not exist.
`;

/** Builds header lines and a body without MIME. */
export function plain(headers: string, body: string): string {
  return `Received: by mx.example.net id 1; Thu, 31 Jan 2030 09:00:00 +0000\nTo: b+0@example.org\nDate: Thu, 31 Jan 2030 09:00:00 +0000\n${headers}\n\n${body}\n`;
}

/** Builds a report with human-readable text, fields and the headers of the copy. */
export function dsn(headers: string, text: string, fields: string, text_type = 'text/plain; charset=us-ascii'): string {
  return plain(
    `${headers}\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=delivery-status; boundary="=_part"`,
    `This is a MIME-encapsulated message.\n\n--=_part\nContent-Type: ${text_type}\n\n${text}\n\n--=_part\nContent-Type: message/delivery-status\n\n${fields}\n\n--=_part\nContent-Type: message/rfc822\n\n${COPY}\n--=_part--`,
  );
}

/** Builds the fields of one recipient. */
export function fields(status: string, diagnostic = '', action = 'failed', address = 'ada@example.net'): string {
  return `Reporting-MTA: dns; mx.example.net\nArrival-Date: Thu, 31 Jan 2030 09:00:00 +0000\n\nFinal-Recipient: rfc822; ${address}\nAction: ${action}\nStatus: ${status}${diagnostic && `\nDiagnostic-Code: ${diagnostic}`}`;
}

/** Builds one of several parts in a multipart/mixed message. */
export function mixed(headers: string, ...parts: readonly string[]): string {
  return plain(
    `${headers}\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=mixed-1`,
    `${parts.map((part) => `--mixed-1\n${part}\n`).join('\n')}--mixed-1--`,
  );
}

export const copyPart = `Content-Type: message/rfc822\n\n${COPY}`;
export const textPart = (text: string) => `Content-Type: text/plain; charset=us-ascii\n\n${text}`;
