import type { z } from 'zod';
import { readKeys } from '../api-keys/index.ts';
import { readAuditEntries } from '../audit/index.ts';
import { readBulks } from '../bulk/index.ts';
import { readDomains } from '../domains/index.ts';
import { readEvents } from '../events/index.ts';
import { type IdKind, idPrefixes, isId } from '../fields/ids.ts';
import { readHolds } from '../holds/index.ts';
import { type LogEntry, readAttemptsById, readMessages, readRecipients } from '../messages/index.ts';
import type { ActorContext } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { invoke, type Operation } from '../operation/operation.ts';
import { jobUuid, readJobs } from '../queues/index.ts';
import { getRequest } from '../requests/index.ts';
import { readSuppressions } from '../suppressions/index.ts';
import { readWebhookDeliveries, readWebhooks } from '../webhooks/index.ts';
import { readWorkspaces } from '../workspaces/index.ts';
import { type Hit, hit } from './hit.ts';

type ById = (ctx: ActorContext, id: string) => Promise<Hit | null>;

/** Reads through the operation that every API uses, so that its scope and access checks apply. */
function byId<T>(operation: Operation<z.ZodType, readonly (T | null)[]>, hitOf: (entry: T, id: string) => Hit): ById {
  return async (ctx, id) => {
    const [entry] = await allowed(() => invoke(ctx, operation, { ids: [id] }));
    return entry == null ? null : hitOf(entry, id);
  };
}

/** Treats things the caller may not read, and missing ones, like things that do not exist. */
export async function allowed<T>(read: () => Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof AppError && ['forbidden', 'not_found'].includes(error.code)) return [];
    throw error;
  }
}

export function mailHit({ id, subject, status, captured, to, created_at }: LogEntry): Hit {
  const outcome = status === 'delivered' && captured ? 'captured' : status;
  return hit('email', id, { title: subject, detail: `${outcome} · ${to[0] ?? ''}`, at: created_at });
}

const kinds: Partial<Record<IdKind, ById>> = {
  message: byId(readMessages, mailHit),
  recipient: byId(readRecipients, (email, id) => {
    const match = email.recipients.find((recipient) => recipient.id === id);
    return hit('recipient', id, {
      title: match?.email ?? email.subject,
      detail: match?.status ?? email.status,
      at: email.created_at,
      within: email.id,
    });
  }),
  attempt: byId(readAttemptsById, ({ id, target, outcome, started_at, email_id }) =>
    hit('attempt', id, { title: target, detail: outcome, at: started_at, within: email_id }),
  ),
  event: byId(readEvents, ({ id, type, created_at, data }) =>
    hit('event', id, { title: type, at: created_at, within: data.email?.id ?? null }),
  ),
  domain: byId(readDomains, ({ id, name, status, created_at }) =>
    hit('domain', id, { title: name, detail: status, at: created_at, within: name }),
  ),
  api_key: byId(readKeys, ({ id, name, status, created_at }) =>
    hit('api_key', id, { title: name, detail: status, at: created_at }),
  ),
  webhook: byId(readWebhooks, ({ id, url, status, created_at }) =>
    hit('webhook', id, { title: url, detail: status, at: created_at }),
  ),
  webhook_delivery: byId(readWebhookDeliveries, ({ id, event_type, status, created_at, webhook_id }) =>
    hit('webhook_delivery', id, { title: event_type, detail: status, at: created_at, within: webhook_id }),
  ),
  suppression: byId(readSuppressions, ({ id, email, source, created_at }) =>
    hit('suppression', id, { title: email, detail: source, at: created_at, within: email }),
  ),
  hold: byId(readHolds, ({ id, scope, value, status, created_at }) =>
    hit('hold', id, { title: `${scope} ${value}`, detail: status, at: created_at }),
  ),
  job: byId(readJobs, ({ id, queue, state, created_at }) =>
    hit('job', id, { title: queue, detail: state, at: created_at }),
  ),
  bulk: byId(readBulks, ({ id, action, status, created_at }) =>
    hit('bulk', id, { title: action, detail: status, at: created_at }),
  ),
  workspace: byId(readWorkspaces, ({ id, name, created_at }) => hit('workspace', id, { title: name, at: created_at })),
  request: async (ctx, id) => {
    const [entry] = await allowed(async () => [await invoke(ctx, getRequest, { id })]);
    if (!entry) return null;
    const { method, path, status, reason, at } = entry;
    return hit('request', id, { title: `${method} ${path}`, detail: `${status} ${reason}`, at });
  },
  audit: byId(readAuditEntries, ({ id, action, actor, at }) =>
    hit('audit', id, { title: action, detail: actor.name, at }),
  ),
};

/** Returns the id kind of a text, or null if the text is not an id. */
export function kindOf(text: string): IdKind | null {
  // Object.keys loses the type of the names.
  const names = Object.keys(idPrefixes) as IdKind[];
  return names.find((kind) => (kind === 'job' ? jobUuid(text) !== null : isId(kind, text))) ?? null;
}

export async function thingById(ctx: ActorContext, kind: IdKind, id: string): Promise<Hit | null> {
  return (await kinds[kind]?.(ctx, id)) ?? null;
}
