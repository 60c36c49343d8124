import { type Tx, transactionTime } from '@postrider/db';
import { type DeliveryState, deliveryStates, openStates } from '../../delivery/index.ts';
import {
  cancelUnsent,
  countMessages,
  deleteContents,
  dueLater,
  entriesOf,
  filterOf,
  giveUp,
  type HopelessRecipient,
  type LockedRecipient,
  lockDeferred,
  lockHopeless,
  lockMailOf,
  lockUnsent,
  type MessageWalk,
  moveUnsent,
  nextMessages,
  otherStatuses,
  retryDeferred,
  stillMatching,
  type Unsent,
} from '../../messages/index.ts';
import type { Services } from '../../operation/context.ts';
import { AppError, type Reason } from '../../operation/errors.ts';
import { type Ages, oldestKept } from '../../operation/retention.ts';
import type { JobName } from '../../process/jobs.ts';
import type { BulkCommand, MessageAction } from '../command.ts';
import { messageFilterSchema, parseFilter } from './filters.ts';
import type { PassedOver, Plan, Receipt } from './plan.ts';

const MAX_EXPORTED = 100_000;
const closedStates = otherStatuses(openStates);

interface Kind {
  /** Message statuses the action can apply to. */
  readonly statuses: readonly DeliveryState[];
  readonly deferred?: boolean;
  /** Skip reason for messages with a first attempt, if the action excludes those. */
  readonly once_tried?: Reason;
  /** Skip reason for messages in other statuses. */
  readonly otherwise: Reason | null;
  readonly warning: string | null;
  readonly wakes: JobName | null;
  readonly most: number;
}

const kinds: Record<MessageAction, Kind> = {
  retry: {
    // A message with both queued and deferred recipients has the status queued.
    statuses: ['queued', 'deferred'],
    deferred: true,
    otherwise: 'not_deferred',
    warning: null,
    wakes: 'delivery.attempt',
    most: Number.POSITIVE_INFINITY,
  },
  cancel: {
    statuses: ['scheduled', 'queued'],
    once_tried: 'already_sent',
    otherwise: 'already_sent',
    warning: 'Canceled email is never sent.',
    wakes: null,
    most: Number.POSITIVE_INFINITY,
  },
  give_up: {
    statuses: openStates,
    otherwise: 'not_deferred',
    warning: 'No further attempts are made. Recipients not attempted yet are canceled.',
    wakes: null,
    most: Number.POSITIVE_INFINITY,
  },
  send_now: {
    statuses: ['scheduled'],
    once_tried: 'already_sent',
    otherwise: 'not_scheduled',
    warning: null,
    wakes: 'delivery.attempt',
    most: Number.POSITIVE_INFINITY,
  },
  delete: {
    statuses: closedStates,
    otherwise: 'still_open',
    warning: 'Deleted content cannot be restored, and these messages cannot be resent.',
    wakes: null,
    most: Number.POSITIVE_INFINITY,
  },
  export: { statuses: deliveryStates, otherwise: null, warning: null, wakes: null, most: MAX_EXPORTED },
};

export function messagePlan(ages: Ages, command: BulkCommand & { readonly action: MessageAction }): Plan {
  const { action, workspace_id, cutoff_at } = command;
  const kind = kinds[action];
  const filters = parseFilter(messageFilterSchema, command.filter);
  const filter = filterOf(filters);
  const everything = Object.values(filters).every((value) => value === undefined);
  const walk: MessageWalk = {
    workspace_id,
    filters,
    statuses: kind.statuses.length === deliveryStates.length ? null : kind.statuses,
    before: cutoff_at,
    oldest_kept: oldestKept(ages, 'messages', 'message'),
    ...(kind.deferred && { deferred: true }),
    ...(kind.once_tried && { tried: false }),
  };
  return {
    check: async () => {},
    next: (sql, position, count) => nextMessages(sql, walk, position, count),
    count: (sql, max) => countMessages(sql, walk, max),
    async passedOver(sql, max) {
      const { before, oldest_kept } = walk;
      const statuses = otherStatuses(kind.statuses);
      const rest_walk: MessageWalk = { workspace_id, filters, statuses, before, oldest_kept };
      const [in_others, attempt_counts] = await Promise.all([
        kind.otherwise && countMessages(sql, rest_walk, max),
        kind.once_tried && countMessages(sql, { ...walk, tried: true }, max),
      ]);
      return sumsOf([
        ...(kind.otherwise && in_others ? [{ reason: kind.otherwise, ...in_others }] : []),
        ...(kind.once_tried && attempt_counts ? [{ reason: kind.once_tried, ...attempt_counts }] : []),
      ]);
    },
    warnings: [
      ...(everything ? ['The filter is empty. This affects all email in the workspace.'] : []),
      ...(kind.warning ? [kind.warning] : []),
    ],
    async act(tx, services, ids) {
      const recheck = async () => {
        const matching = await stillMatching(tx, workspace_id, filter, cutoff_at, ids);
        return (id: string): Reason | null => (matching.has(id) ? null : 'not_matching');
      };
      return actions[action](tx, services, command, ids, recheck);
    },
    wakes: kind.wakes,
    most: kind.most,
  };
}

function sumsOf(counts: readonly PassedOver[]): PassedOver[] {
  return [...Map.groupBy(counts, ({ reason }) => reason)].map(([reason, parts]) => ({
    reason,
    count: parts.reduce((sum, { count }) => sum + count, 0),
    exact: parts.every(({ exact }) => exact),
  }));
}

/** Returns why a locked message no longer matches the filter; null if it does. */
type Recheck = () => Promise<(id: string) => Reason | null>;
type Act = (
  tx: Tx,
  services: Services,
  command: BulkCommand,
  ids: readonly string[],
  recheck: Recheck,
) => Promise<readonly Receipt[]>;

const actions: Record<MessageAction, Act> = {
  async retry(tx, services, { actor, workspace_id }, ids, recheck) {
    const outcomes = await lockDeferred(tx, actor, workspace_id, ids);
    const stray = await recheck();
    const choice = choose<readonly LockedRecipient[]>(ids, (id) => {
      const one = outcomes.get(id);
      if (!one) return 'message_not_found';
      if (one instanceof AppError) return one.reason;
      return stray(id) ?? (one.length === 0 ? 'not_deferred' : one);
    });
    await retryDeferred(tx, services, choice.values.flat());
    return choice.receipts;
  },
  async cancel(tx, services, { actor, workspace_id }, ids, recheck) {
    const outcomes = await lockUnsent(tx, actor, workspace_id, ids);
    const stray = await recheck();
    const choice = choose<Unsent>(ids, (id) => waitingOf(outcomes.get(id), stray(id)));
    await cancelUnsent(tx, services, workspace_id, choice.values);
    return choice.receipts;
  },
  async give_up(tx, services, { actor, workspace_id }, ids, recheck) {
    const outcomes = await lockHopeless(tx, actor, workspace_id, ids);
    const stray = await recheck();
    const choice = choose<HopelessRecipient>(ids, (id) => {
      const one = outcomes.get(id);
      if (!one) return 'message_not_found';
      return one instanceof AppError ? one.reason : (stray(id) ?? one);
    });
    await giveUp(tx, services, workspace_id, choice.values);
    return choice.receipts;
  },
  async send_now(tx, services, { actor, workspace_id }, ids, recheck) {
    const outcomes = await lockUnsent(tx, actor, workspace_id, ids);
    const stray = await recheck();
    const choice = choose<Unsent>(ids, (id) => {
      const one = waitingOf(outcomes.get(id), stray(id));
      if (typeof one === 'string') return one;
      return dueLater(one) ?? 'not_scheduled';
    });
    await moveUnsent(tx, services, workspace_id, choice.values, await transactionTime(tx));
    return choice.receipts;
  },
  async delete(tx, _services, { actor, workspace_id }, ids, recheck) {
    await lockMailOf(tx, workspace_id, ids);
    const stray = await recheck();
    const deleted = await deleteContents(
      tx,
      actor,
      workspace_id,
      ids.filter((id) => stray(id) === null),
    );
    return choose(ids, (id) => stray(id) ?? deleted.get(id) ?? {}).receipts;
  },
  async export(tx, _services, { workspace_id }, ids, recheck) {
    const stray = await recheck();
    const entries = await entriesOf(tx, workspace_id, ids);
    return ids.map((item_id): Receipt => {
      const entry = entries.get(item_id);
      const reason = stray(item_id) ?? (entry ? null : 'message_not_found');
      if (reason !== null) return { item_id, outcome: 'skipped', reason };
      return { item_id, outcome: 'done', reason: null, line: JSON.stringify(entry) };
    });
  },
};

function waitingOf(message: Unsent | AppError | undefined, stray: Reason | null): Unsent | Reason {
  if (!message) return 'message_not_found';
  if (message instanceof AppError) return message.reason;
  return stray ?? (message.waiting.length === 0 ? 'already_canceled' : message);
}

/** Splits messages into those to act on and those to skip, each with a receipt. */
function choose<T extends object>(
  ids: readonly string[],
  judge: (id: string) => T | Reason,
): { readonly values: readonly T[]; readonly receipts: readonly Receipt[] } {
  const values: T[] = [];
  const receipts = ids.map((item_id): Receipt => {
    const verdict = judge(item_id);
    if (typeof verdict === 'string') return { item_id, outcome: 'skipped', reason: verdict };
    values.push(verdict);
    return { item_id, outcome: 'done', reason: null };
  });
  return { values, receipts };
}
