import { INSTANCE } from '../operation/access.ts';
import type { Services } from '../operation/context.ts';
import type { Notice } from './notice-body.ts';
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
import { createNoticeSender, type WebhookSettings } from './send-notices.ts';

// Concurrent turns of workspaces; each has at most one for its webhook and one for its email.
const MAX_TURNS = 16;
const INSTANCE_TURNS = 2;
// Until the database has responded once, only the webhook of the environment is known.
const NO_WEBHOOK: WebhookSettings = {
  workspace_id: INSTANCE,
  webhook_url: null,
  webhook_format: 'json',
  webhook_secret: null,
  webhook_previous_secret: null,
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
  const { sql, log, clock } = services;
  const sender = createNoticeSender(services);
  const fills = new Set<Promise<void>>();
  let free = MAX_TURNS;
  let stopped = false;
  let remembered: OwnerSettings | null = null;

  /** Returns whether every webhook accepted the notices. */
  const post = async (owner: WebhookSettings, notices: readonly Notice[]): Promise<boolean> =>
    (await sender.post(owner, notices)).every(({ accepted }) => accepted);
  /** Returns whether the notices were sent or have no receiver. */
  const deliver = async (
    channel: NoticeTurn['way'],
    owner: OwnerSettings,
    due: readonly DueNotice[],
  ): Promise<boolean> => {
    if (channel === 'webhook') return post(owner, due);
    const outcomes = await sender.email(owner, due);
    if (outcomes.length > 0) await noteMail(sql, owner.workspace_id);
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
      const { started_at, ended_at } = notice;
      const place = { workspace_id: INSTANCE, id: null, subject: '', page: '/instance/status' };
      return post(remembered ?? NO_WEBHOOK, [{ ...notice, ...place, told_at: ended_at ?? started_at }]);
    },
    async stop() {
      stopped = true;
      await sender.stop();
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
