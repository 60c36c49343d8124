import { createHttpGuard, type HttpGuard } from '@postrider/net';
import { sendMessage } from '../accept/index.ts';
import { isoTime } from '../fields/clock.ts';
import { INSTANCE } from '../operation/access.ts';
import type { Services } from '../operation/context.ts';
import { invoke } from '../operation/operation.ts';
import { createContext } from '../services.ts';
import { egressOf } from '../webhooks/index.ts';
import { titleOf } from './rules.ts';
import {
  type AlarmRow,
  type DueNotice,
  dueNotices,
  markTold,
  noteMail,
  type OwnerSettings,
  senderDomain,
  settingsOfOwners,
} from './store.ts';
import type { NoticeKind } from './transitions.ts';

// A storm becomes one mail: what is raised within this time of a mail is told in the next one.
const MAIL_GAP_SECONDS = 300;
const FIRST_RETRY_MS = 15_000;
const MOST_RETRY_MS = 900_000;
const USER_AGENT = 'Postrider-Alarms/1';
// Where the operator of the machine wants notices, any address is right.
const ANYWHERE = ['0.0.0.0/0', '::/0'];

type Told = Pick<AlarmRow, 'rule' | 'subject' | 'detail' | 'page' | 'started_at' | 'ended_at'> & {
  readonly id: string | null;
  readonly kind: NoticeKind;
};

/** Sends notices: mail by the normal path, and webhooks directly from this process, so that one of them works. */
export interface Notices {
  /** Everything that is due and not kept back by quiet hours or the last mail. */
  sendDue(): Promise<void>;
  /** Reads where notices of the instance go, for the time when the database cannot say it. */
  remember(): Promise<void>;
  /** Posts to the instance's webhooks what no database can record. Returns false where that has to be tried again. */
  postFromMemory(told: Pick<Told, 'rule' | 'detail' | 'started_at' | 'ended_at' | 'kind'>): Promise<boolean>;
  stop(): Promise<void>;
}

export function createNotices(services: Services): Notices {
  const { sql, log, clock, config, public_url } = services;
  const own = createHttpGuard({ ...egressOf(config), allow_networks: ANYWHERE });
  const guarded = createHttpGuard(egressOf(config));
  /** When an owner's webhook is tried again after a failure. */
  const retries = new Map<string, { at_ms: number; gap_ms: number }>();
  let remembered: OwnerSettings | null = null;

  /** Whether every receiver took it. */
  const post = async (urls: readonly { readonly url: string; readonly http: HttpGuard }[], told: readonly Told[]) => {
    const body = Buffer.from(
      JSON.stringify({ object: 'alarm_notice', alarms: told.map((one) => entryOf(one, public_url)) }),
    );
    const headers = { 'content-type': 'application/json', 'user-agent': USER_AGENT };
    const outcomes = await Promise.all(urls.map(({ url, http }) => http.post({ url, headers, body })));
    const failed = outcomes.filter((one) => one.kind === 'failed' || one.status < 200 || one.status > 299);
    if (failed.length > 0) log.warn({ count: failed.length }, 'a notice of alarms was not taken by its webhook');
    return failed.length === 0;
  };
  const webhooksOf = ({ workspace_id, webhook_url }: Pick<OwnerSettings, 'workspace_id' | 'webhook_url'>) => [
    ...(webhook_url === null ? [] : [{ url: webhook_url, http: guarded }]),
    ...(workspace_id === INSTANCE && config.ALERT_WEBHOOK_URL !== undefined
      ? [{ url: config.ALERT_WEBHOOK_URL, http: own }]
      : []),
  ];
  const postDue = async (owner: OwnerSettings, due: readonly DueNotice[]) => {
    const told = due.flatMap((row) => (row.webhook_due ? [{ ...row, kind: row.webhook_due }] : []));
    const urls = webhooksOf(owner);
    const retry = retries.get(owner.workspace_id);
    if (told.length === 0 || (retry && retry.at_ms > clock.now())) return;
    if (urls.length > 0 && !(await post(urls, told))) {
      const gap_ms = Math.min(MOST_RETRY_MS, (retry?.gap_ms ?? FIRST_RETRY_MS / 2) * 2);
      retries.set(owner.workspace_id, { at_ms: clock.now() + gap_ms, gap_ms });
      return;
    }
    retries.delete(owner.workspace_id);
    await markTold(sql, 'webhook', told);
  };
  const mailDue = async (owner: OwnerSettings, due: readonly DueNotice[]) => {
    const told = due.flatMap((row) => (row.mail_due ? [{ ...row, kind: row.mail_due }] : []));
    const { workspace_id, mailed_seconds_ago } = owner;
    if (told.length === 0 || (mailed_seconds_ago !== null && mailed_seconds_ago < MAIL_GAP_SECONDS)) return;
    const to = [...owner.emails, ...(workspace_id === INSTANCE && config.ALERT_EMAIL ? [config.ALERT_EMAIL] : [])];
    const recipients = [...new Set(to)];
    if (recipients.length > 0) {
      await mail(services, owner, recipients, told);
      await noteMail(sql, workspace_id);
    }
    await markTold(sql, 'mail', told);
  };
  return {
    async sendDue() {
      const due = await dueNotices(sql);
      const groups = Map.groupBy(due, ({ workspace_id }) => workspace_id);
      const owners = await settingsOfOwners(sql, [...groups.keys()]);
      for (const owner of owners) {
        const rows = groups.get(owner.workspace_id) ?? [];
        if (isQuiet(owner)) continue;
        for (const send of [postDue, mailDue]) {
          // One way that fails must not keep back the other.
          await send(owner, rows).catch((error: unknown) =>
            log.error({ err: error, workspace_id: owner.workspace_id }, 'a notice of alarms could not be sent'),
          );
        }
      }
    },
    async remember() {
      [remembered = null] = await settingsOfOwners(sql, [INSTANCE]);
    },
    async postFromMemory(told) {
      if (remembered && isQuiet({ ...remembered, minute_of_day: minuteOfDay(clock.now()) })) return false;
      const urls = webhooksOf({ workspace_id: INSTANCE, webhook_url: remembered?.webhook_url ?? null });
      return urls.length === 0 || post(urls, [{ ...told, id: null, subject: '', page: '/operations/health' }]);
    },
    async stop() {
      await Promise.all([own.stop(), guarded.stop()]);
    },
  };
}

function minuteOfDay(at_ms: number): number {
  const at = new Date(at_ms);
  return at.getUTCHours() * 60 + at.getUTCMinutes();
}

/** Quiet hours may reach over midnight. */
export function isQuiet({
  quiet_from: from,
  quiet_until: until,
  minute_of_day: now,
}: Pick<OwnerSettings, 'quiet_from' | 'quiet_until' | 'minute_of_day'>): boolean {
  if (from === null || until === null || from === until) return false;
  return from < until ? now >= from && now < until : now >= from || now < until;
}

function entryOf({ id, rule, subject, detail, page, started_at, ended_at, kind }: Told, public_url: string) {
  return {
    id,
    notice: kind,
    rule,
    title: titleOf(rule),
    subject: subject === '' ? null : subject,
    detail,
    url: `${public_url}${page}`,
    started_at: isoTime(started_at),
    ended_at: ended_at && isoTime(ended_at),
  };
}

const words: Record<NoticeKind, string> = { start: 'Raised', reminder: 'Still there', end: 'Ended' };

async function mail(
  services: Services,
  owner: OwnerSettings,
  recipients: readonly string[],
  told: readonly Told[],
): Promise<void> {
  const { from_address, workspace_id } = owner;
  const { config, log, public_url, sql } = services;
  const domain = from_address === null ? null : from_address.slice(from_address.lastIndexOf('@') + 1).replace(/>$/, '');
  const sandbox = config.DELIVERY.some(({ kind }) => kind === 'capture');
  const sender = await senderDomain(sql, { workspace_id, domain, sandbox });
  if (!sender) {
    log.warn({ workspace_id }, 'alarms were not mailed: no verified domain may send them');
    return;
  }
  const from = from_address ?? `alarms@${sender.name}`;
  const [first] = told;
  const title = first ? `${words[first.kind]}: ${titleOf(first.rule)}` : '';
  const paragraphs = told.map((one) => {
    const { title: name, detail, url, started_at, ended_at } = entryOf(one, public_url);
    const time = ended_at === null ? `Since ${started_at}` : `${started_at} to ${ended_at}`;
    return `${words[one.kind]}: ${name}\n${detail}\n${time}\n${url}`;
  });
  const ctx = createContext(services, { kind: 'system', workspace_id: sender.workspace_id });
  await invoke(ctx, sendMessage, {
    from,
    to: recipients,
    subject: told.length === 1 ? title : `${title}, and ${told.length - 1} more`,
    text: `${paragraphs.join('\n\n')}\n`,
    tags: ['alarm'],
  });
}
