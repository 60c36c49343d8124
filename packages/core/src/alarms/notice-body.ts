import { createHash } from 'node:crypto';
import { isoTime } from '../fields/clock.ts';
import { dashboardPath } from './dashboard-path.ts';
import { TEST, titleOf } from './rules.ts';
import type { WebhookForm } from './settings-store.ts';
import type { AlarmRow } from './store.ts';
import type { NoticeKind } from './transitions.ts';

export type Notice = Pick<
  AlarmRow,
  'workspace_id' | 'rule' | 'subject' | 'detail' | 'page' | 'started_at' | 'ended_at'
> & {
  readonly id: string | null;
  readonly kind: NoticeKind | 'test';
  /** When the notice became due. */
  readonly told_at: Date;
};

// Discord accepts the fewest characters of all that read Slack's format: 2,000.
const MAX_SLACK_CHARACTERS = 1900;
const MAX_SLACK_DETAIL = 600;

const words: Record<Notice['kind'], string> = {
  start: 'Alert',
  reminder: 'Still active',
  end: 'Resolved',
  test: 'Test',
};

function entryOf(notice: Notice, public_url: string) {
  const { workspace_id, id, rule, subject, detail, page, started_at, ended_at, kind } = notice;
  return {
    id,
    notice: kind,
    rule,
    title: titleOf(rule),
    subject: subject === '' ? null : subject,
    detail,
    url: `${public_url}${dashboardPath(workspace_id, page)}`,
    runbook: `${public_url}${runbookOf(rule)}`,
    started_at: isoTime(started_at),
    ended_at: ended_at && isoTime(ended_at),
  };
}

/** Returns the path of the documentation that says what to do about an alarm. */
export function runbookOf(rule: string): string {
  return rule === TEST ? '/docs/metrics#alarms' : `/docs/alarms#${rule}`;
}

/** Returns the same ID for a repeated request, so that its receiver can recognize it. */
export function noticesId(notices: readonly Notice[]): string {
  const names = notices.map(({ workspace_id, id, kind, rule, told_at }) => [workspace_id, id, kind, rule, told_at]);
  return `notice_${createHash('sha256').update(JSON.stringify(names)).digest('hex').slice(0, 32)}`;
}

/** Returns the body of a webhook request. */
export function webhookBody(form: WebhookForm, notices: readonly Notice[], public_url: string): Buffer {
  const body =
    form === 'slack'
      ? { text: slackText(notices, public_url) }
      : { object: 'alarm_notice', alarms: notices.map((one) => entryOf(one, public_url)) };
  return Buffer.from(JSON.stringify(body));
}

/** Returns a paragraph per notice, and only the number of those that do not fit. */
function slackText(notices: readonly Notice[], public_url: string): string {
  const paragraphs: string[] = [];
  let length = 0;
  for (const notice of notices) {
    const { title, detail, url } = entryOf(notice, public_url);
    const heading = `*${escapeSlack(`${words[notice.kind]}: ${title}`)}*`;
    const paragraph = `${heading}\n${escapeSlack(detail, MAX_SLACK_DETAIL)}\n<${escapeSlack(url)}>`;
    length += paragraph.length + 2;
    if (length > MAX_SLACK_CHARACTERS && paragraphs.length > 0) break;
    paragraphs.push(paragraph);
  }
  const more = notices.length - paragraphs.length;
  return [...paragraphs, ...(more > 0 ? [`and ${more} more`] : [])].join('\n\n');
}

const slackEscapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
// A detail may quote the response of a mail server, which must not notify a whole channel.
const MENTION = /(?<!\w)@(?=(?:everyone|here|channel|all)\b)/gi;

function escapeSlack(text: string, max = Number.POSITIVE_INFINITY): string {
  const escaped = Array.from(text.replace(MENTION, '@\u200b'), (character) => slackEscapes[character] ?? character);
  let length = 0;
  const end = escaped.findIndex((part) => {
    length += part.length;
    return length > max;
  });
  return end < 0 ? escaped.join('') : `${escaped.slice(0, end).join('')}…`;
}

/** Returns the subject and text of an email. */
export function emailOf(
  notices: readonly Notice[],
  public_url: string,
): { readonly subject: string; readonly text: string } {
  const [first] = notices;
  const title = first ? `${words[first.kind]}: ${titleOf(first.rule)}` : '';
  const paragraphs = notices.map((one) => {
    const { title: name, detail, url, runbook, started_at, ended_at } = entryOf(one, public_url);
    const time = ended_at === null ? `Since ${started_at}` : `${started_at} to ${ended_at}`;
    return `${words[one.kind]}: ${name}\n${detail}\n${time}\n${url}\nRunbook: ${runbook}`;
  });
  return {
    subject: notices.length === 1 ? title : `${title} and ${notices.length - 1} more`,
    text: `${paragraphs.join('\n\n')}\n`,
  };
}
