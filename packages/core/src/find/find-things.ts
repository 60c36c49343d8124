import { canonicalDomain } from '@postrider/mail';
import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { personEmail } from '../fields/email.ts';
import { idFloor, idTime } from '../fields/ids.ts';
import { objectName } from '../fields/wire.ts';
import { readMessages } from '../messages/index.ts';
import { accessibleMode } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { invoke, operation } from '../operation/operation.ts';
import { scopeRefusal } from '../operation/scope-refusal.ts';
import type { Scope } from '../operation/scopes.ts';
import { readSuppressionsByEmail } from '../suppressions/index.ts';
import { type Hit, hit, hitSchema } from './hit.ts';
import {
  destinationsByPrefix,
  findMailByAddress,
  findMailByRequest,
  isTag,
  type MatchRow,
  mailBySubject,
  namedThings,
} from './store.ts';
import { allowed, kindOf, mailHit, thingById } from './things-by-id.ts';

const LONGEST = 300;
const MAX_RESULTS = 50;
const DEFAULT_RESULTS = 20;
/** How many of the newest messages a subject search reads: as many as a filtered page of the log examines. */
const NEWEST = 1000;
const DESTINATION_DAYS = 30;
const MAX_DESTINATIONS = 5;
// Shorter texts begin many domains by chance.
const DOMAIN_PREFIX = /^[a-z0-9][a-z0-9.-]{2,}$/;
// A message is stored within this time of its request arriving.
const REQUEST_MS = 60_000;
const MESSAGE_ID = /^<?(msg_[0-9a-z]{26})@[^\s<>@]+>?$/;

const scopeOf: Record<MatchRow['type'], Scope> = {
  domain: 'domains:read',
  member: 'admin',
  api_key: 'admin',
  webhook: 'webhooks:manage',
  destination: 'operator',
  tag: 'email:logs:read',
};

/** Finds things by any id, a Message-ID, an address, a name, a tag, or words of a subject. */
export const findThings = operation({
  name: 'find',
  scope: 'email:logs:read',
  sandbox: true,
  summary: 'Find a thing by an id, Message-ID, address, name, tag or words of a recent subject',
  input: z.object({
    text: z.string().trim().min(1).max(LONGEST),
    limit: z.int().min(1).max(MAX_RESULTS).default(DEFAULT_RESULTS),
  }),
  output: z.object({ object: objectName('list'), data: z.array(hitSchema).readonly() }),
  async run(ctx, { text, limit }): Promise<{ readonly object: 'list'; readonly data: readonly Hit[] }> {
    const data = (await byId(ctx, text)) ?? (await byWords(ctx, text, limit));
    return { object: 'list', data: data.slice(0, limit) };
  },
});

/** Returns the one thing that an id identifies, or null if the text is not an id. */
async function byId(ctx: ActorContext, text: string): Promise<Hit[] | null> {
  const id = MESSAGE_ID.exec(text)?.[1] ?? text;
  const kind = kindOf(id);
  if (kind === null) return null;
  if (kind === 'request') {
    const accepted = await emailHits(ctx, await emailsByRequest(ctx, id));
    if (accepted.length > 0) return accepted;
  }
  const item = await thingById(ctx, kind, id);
  return item ? [item] : [];
}

function emailsByRequest(ctx: ActorContext, request_id: string): Promise<string[]> {
  const at = idTime(request_id);
  const range = { from: idFloor('message', at), before: idFloor('message', at + REQUEST_MS) };
  return findMailByRequest(ctx.sql, ctx.actor.workspace_id, request_id, range, MAX_RESULTS);
}

async function byWords(ctx: ActorContext, text: string, limit: number): Promise<Hit[]> {
  const { sql, actor } = ctx;
  const { workspace_id } = actor;
  const email = personEmail(text);
  const lower = (canonicalDomain(text) ?? text).toLowerCase();
  // Things that have a mode are omitted for callers limited to one mode.
  const moded = accessibleMode(actor) !== null;
  const kinds = namedKinds.filter(
    (kind) => scopeRefusal(actor, scopeOf[kind]) === null && !(moded && (kind === 'api_key' || kind === 'webhook')),
  );
  const [suppressions, by_name, destinations, tagged, addressed, by_subject] = await Promise.all([
    email === null ? [] : allowed(() => invoke(ctx, readSuppressionsByEmail, { ids: [email] })),
    namedThings(sql, workspace_id, lower, kinds, limit),
    // Statistics count both modes.
    scopeRefusal(actor, 'admin') !== null || moded || !DOMAIN_PREFIX.test(lower)
      ? []
      : destinationsByPrefix(sql, workspace_id, lower, { days: DESTINATION_DAYS, most: MAX_DESTINATIONS }),
    isTag(sql, workspace_id, text),
    email === null ? [] : findMailByAddress(sql, workspace_id, email, limit),
    email === null ? mailBySubject(sql, workspace_id, text, { newest: NEWEST, most: limit }) : [],
  ]);
  return [
    ...by_name.map(namedHit),
    ...destinations
      .filter((name) => !by_name.some(({ type, id }) => type === 'destination' && id === name))
      .map((name) => hit('destination', name, { title: name })),
    ...(tagged ? [hit('tag', text, { title: text })] : []),
    ...suppressions.flatMap((entry) =>
      entry === null
        ? []
        : [
            hit('suppression', entry.id, {
              title: entry.email,
              detail: entry.source,
              at: entry.created_at,
              within: entry.email,
            }),
          ],
    ),
    ...(await emailHits(ctx, [...addressed, ...by_subject])),
  ];
}

const namedKinds = ['domain', 'member', 'api_key', 'webhook', 'destination'] as const;

function namedHit({ type, id, title, detail, at }: MatchRow): Hit {
  return hit(type, id, { title, detail, at: at && isoTime(at), within: title });
}

async function emailHits(ctx: ActorContext, ids: readonly string[]): Promise<Hit[]> {
  if (ids.length === 0) return [];
  const emails = await invoke(ctx, readMessages, { ids });
  return emails.flatMap((entry) => (entry === null ? [] : [mailHit(entry)]));
}
