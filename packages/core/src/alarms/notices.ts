import { createHttpGuard, type HttpGuard } from '@postrider/net';
import { sendMessage } from '../accept/index.ts';
import { isoTime } from '../fields/clock.ts';
import { INSTANCE } from '../operation/access.ts';
import type { Services } from '../operation/context.ts';
import { invoke } from '../operation/operation.ts';
import { createContext } from '../services.ts';
import { egressOf } from '../webhooks/index.ts';
import { dashboardPath } from './dashboard-path.ts';
import {
  type DueNotice,
  delayTurn,
  dueNotices,
  endTurn,
  type NoticeTurn,
  noteMail,
  type OwnerSettings,
  ownerSettingsOf,
  skipTurn,
  takeTurns,
} from './notice-store.ts';
import { titleOf } from './rules.ts';
import { type AlarmRow, senderDomain } from './store.ts';
import type { NoticeKind } from './transitions.ts';

// Concurrent turns of workspaces; each has at most one for its webhook and one for its email.
const MAX_TURNS = 16;
const INSTANCE_TURNS = 2;
const USER_AGENT = 'Postrider-Alarms/1';
// The operator of the machine may send notices to any address.
const ANYWHERE = ['0.0.0.0/0', '::/0'];

type Notice = Pick<AlarmRow, 'workspace_id' | 'rule' | 'subject' | 'detail' | 'page' | 'started_at' | 'ended_at'> & {
  readonly id: string | null;
  readonly kind: NoticeKind;
};

/**
 * Sends notices: email through the normal path, and webhooks directly from this process, so that at least one gets
 * through.
 */
export interface Notices {
  /** Sends the notices due for the instance, and starts sending those due for workspaces. */
  sendDue(): Promise<void>;
  /** Resolves once nothing is being sent. */
  idle(): Promise<void>;
  /** Remembers where notices of the instance go, for when the database is unreachable. */
  remember(): Promise<void>;
  /** Posts a notice to the instance's webhooks while no database can record it. Returns false if it must be retried. */
  postFromMemory(notice: Pick<Notice, 'rule' | 'detail' | 'started_at' | 'ended_at' | 'kind'>): Promise<boolean>;
  stop(): Promise<void>;
}

export function createNotices(services: Services): Notices {
  const { sql, log, clock, config, public_url } = services;
  const own = createHttpGuard({ ...egressOf(config), allow_networks: ANYWHERE });
  const guarded = createHttpGuard(egressOf(config));
  const fills = new Set<Promise<void>>();
  let free = MAX_TURNS;
  let stopped = false;
  let remembered: OwnerSettings | null = null;

  /** Posts the notices to every URL; returns whether all of them accepted the post. */
  const post = async (
    urls: readonly { readonly url: string; readonly http: HttpGuard }[],
    notices: readonly Notice[],
  ) => {
    const body = Buffer.from(
      JSON.stringify({ object: 'alarm_notice', alarms: notices.map((one) => entryOf(one, public_url)) }),
    );
    const headers = { 'content-type': 'application/json', 'user-agent': USER_AGENT };
    const outcomes = await Promise.all(urls.map(({ url, http }) => http.post({ url, headers, body })));
    const failed = outcomes.filter((one) => one.kind === 'failed' || one.status < 200 || one.status > 299);
    if (failed.length > 0) log.warn({ count: failed.length }, 'the alert webhook rejected an alert');
    return failed.length === 0;
  };
  const webhooksOf = ({ workspace_id, webhook_url }: Pick<OwnerSettings, 'workspace_id' | 'webhook_url'>) => [
    ...(webhook_url === null ? [] : [{ url: webhook_url, http: guarded }]),
    ...(workspace_id === INSTANCE && config.ALERT_WEBHOOK_URL !== undefined
      ? [{ url: config.ALERT_WEBHOOK_URL, http: own }]
      : []),
  ];
  /** Returns whether the notices were sent or have no receiver. */
  const deliver = async (
    channel: NoticeTurn['way'],
    owner: OwnerSettings,
    due: readonly DueNotice[],
  ): Promise<boolean> => {
    if (channel === 'webhook') {
      const urls = webhooksOf(owner);
      return urls.length === 0 || post(urls, due);
    }
    const { workspace_id } = owner;
    const to = [...owner.emails, ...(workspace_id === INSTANCE && config.ALERT_EMAIL ? [config.ALERT_EMAIL] : [])];
    const recipients = [...new Set(to)];
    if (recipients.length > 0) {
      await mail(services, owner, recipients, due);
      await noteMail(sql, workspace_id);
    }
    return true;
  };
  const take = async (turn: NoticeTurn): Promise<void> => {
    const { workspace_id, way: channel } = turn;
    try {
      const [owner, due] = await Promise.all([ownerSettingsOf(sql, workspace_id), dueNotices(sql, turn)]);
      if (isQuiet(owner)) return await skipTurn(sql, turn);
      const delivered = await deliver(channel, owner, due).catch((error: unknown) => {
        log.error({ err: error, workspace_id }, 'failed to send an alert');
        return false;
      });
      await (delivered ? endTurn(sql, turn, due) : delayTurn(sql, turn));
    } catch (error) {
      // The lease expires, and another turn follows.
      log.error({ err: error, workspace_id }, 'failed to record sent alert notices');
    }
  };
  /** Claims turns of workspaces while there is capacity and something is due. */
  const fill = async (): Promise<void> => {
    const room = free;
    if (room === 0 || stopped) return;
    free = 0;
    let turns: NoticeTurn[] = [];
    try {
      turns = await takeTurns(sql, 'workspaces', room);
    } finally {
      free += room - turns.length;
    }
    for (const turn of turns) {
      track(
        take(turn).then(() => {
          free += 1;
          return fill();
        }),
      );
    }
  };
  const track = (work: Promise<void>): void => {
    const tracked = work
      .catch((error: unknown) => log.error({ err: error }, 'failed to claim alert notices'))
      .finally(() => fills.delete(tracked));
    fills.add(tracked);
  };
  const idle = async () => {
    while (fills.size > 0) await Promise.all(fills);
  };
  return {
    async sendDue() {
      track(fill());
      // Claimed separately, so that a workspace never delays the instance.
      const turns = await takeTurns(sql, 'instance', INSTANCE_TURNS);
      await Promise.all(turns.map(take));
    },
    idle,
    async remember() {
      remembered = await ownerSettingsOf(sql, INSTANCE);
    },
    async postFromMemory(notice) {
      if (remembered && isQuiet({ ...remembered, minute_of_day: minuteInDay(clock.now()) })) return false;
      const urls = webhooksOf({ workspace_id: INSTANCE, webhook_url: remembered?.webhook_url ?? null });
      return (
        urls.length === 0 ||
        post(urls, [{ ...notice, workspace_id: INSTANCE, id: null, subject: '', page: '/instance/status' }])
      );
    },
    async stop() {
      stopped = true;
      await Promise.all([own.stop(), guarded.stop()]);
      await idle();
    },
  };
}

function minuteInDay(at_ms: number): number {
  const at = new Date(at_ms);
  return at.getUTCHours() * 60 + at.getUTCMinutes();
}

/** Returns whether quiet hours apply; they may span midnight. */
export function isQuiet({
  quiet_from: from,
  quiet_until: until,
  minute_of_day: now,
}: Pick<OwnerSettings, 'quiet_from' | 'quiet_until' | 'minute_of_day'>): boolean {
  if (from === null || until === null || from === until) return false;
  return from < until ? now >= from && now < until : now >= from || now < until;
}

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
    runbook: `${public_url}/docs/alarms#${rule}`,
    started_at: isoTime(started_at),
    ended_at: ended_at && isoTime(ended_at),
  };
}

const words: Record<NoticeKind, string> = { start: 'Alert', reminder: 'Still active', end: 'Resolved' };

async function mail(
  services: Services,
  owner: OwnerSettings,
  recipients: readonly string[],
  notices: readonly Notice[],
): Promise<void> {
  const { from_address, workspace_id } = owner;
  const { config, log, public_url, sql } = services;
  const domain = from_address === null ? null : from_address.slice(from_address.lastIndexOf('@') + 1).replace(/>$/, '');
  const sandbox = config.DELIVERY.some(({ kind }) => kind === 'capture');
  const sender = await senderDomain(sql, { workspace_id, domain, sandbox });
  if (!sender) {
    log.warn({ workspace_id }, 'alert email was not sent: no verified domain');
    return;
  }
  const from = from_address ?? `alarms@${sender.name}`;
  const [first] = notices;
  const title = first ? `${words[first.kind]}: ${titleOf(first.rule)}` : '';
  const paragraphs = notices.map((one) => {
    const { title: name, detail, url, runbook, started_at, ended_at } = entryOf(one, public_url);
    const time = ended_at === null ? `Since ${started_at}` : `${started_at} to ${ended_at}`;
    return `${words[one.kind]}: ${name}\n${detail}\n${time}\n${url}\nRunbook: ${runbook}`;
  });
  const ctx = createContext(services, { kind: 'system', workspace_id: sender.workspace_id });
  await invoke(ctx, sendMessage, {
    from,
    to: recipients,
    subject: notices.length === 1 ? title : `${title} and ${notices.length - 1} more`,
    text: `${paragraphs.join('\n\n')}\n`,
    tags: ['alarm'],
  });
}
