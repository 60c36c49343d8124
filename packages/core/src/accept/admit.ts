import type { Sql } from '@postrider/db';
import {
  admitKeys,
  type KeyAnswer,
  keyRefusal,
  refuseAddress,
  type SenderFacts,
  senderFacts,
} from '../api-keys/index.ts';
import type { Actor, Credential } from '../operation/context.ts';
import type { AppError } from '../operation/errors.ts';
import type { RateWindow } from '../operation/ports.ts';
import { scopeRefusal } from '../operation/scope-refusal.ts';
import { countSend, judgeRate, type KeyPlaces, rateRefusal, windowOf } from '../usage/index.ts';
import type { AdmissionCache } from './admission-cache.ts';
import type { AcceptParts, Submission } from './submission.ts';

export type AdmissionVerdict =
  | { readonly kind: 'admitted'; readonly sender: SenderFacts; readonly window: RateWindow | null }
  | { readonly kind: 'refused'; readonly error: AppError; readonly window: RateWindow | null };

/**
 * Checks keys, counts windows, then checks scopes and bodies, in the contract's order: 401, 429, 403, 400. One
 * statement serves all submissions, and verdicts are in the same order. It commits separately, because a request counts
 * toward its window whatever happens to its message.
 */
export async function admit(
  parts: AcceptParts,
  cache: AdmissionCache,
  sql: Sql,
  submissions: readonly Submission[],
): Promise<AdmissionVerdict[]> {
  const groups = groupCredentials(submissions);
  const claims = [...groups.values()];
  const responses = claims.length > 0 ? await admitKeys(sql, 'send', claims) : [];
  const answerOf = new Map([...groups.keys()].map((name, index) => [name, responses[index]]));
  const served = new Map<string, number>();
  return Promise.all(
    submissions.map(async (submission): Promise<AdmissionVerdict> => {
      const { actor } = submission;
      if (actor.kind !== 'credential') return admitActor(parts, actor, submission);
      const name = credentialName(actor);
      const response = answerOf.get(name);
      const place = served.get(name) ?? 0;
      served.set(name, place + 1);
      if (response?.kind !== 'found') {
        return { kind: 'refused', ...(await refuseAddress(parts, actor.address, keyRefusal(refusedFor(response)))) };
      }
      parts.key_uses.note(response.key.key_id);
      const { key, epoch, expires_at, workspace_rate } = response;
      cache.learnSender(epoch, name, { key, allowance: response.first.key.limit, workspace_rate, expires_at });
      const rate = judgeRate('send', placesAfter(response.first, place));
      const { window } = rate;
      const scope_holder = { kind: 'key', scopes: response.key.scopes };
      const refusal = rate.refusal ?? scopeRefusal(scope_holder, submission.scope) ?? bodyRefusal(submission);
      return refusal ? { kind: 'refused', error: refusal, window } : { kind: 'admitted', sender: response.key, window };
    }),
  );
}

/** Returns the window positions of a later request with the same credential. */
function placesAfter({ key, workspace }: KeyPlaces, count: number): KeyPlaces {
  return {
    key: { ...key, place: key.place + count },
    workspace: workspace && { ...workspace, place: workspace.place + count },
  };
}

/**
 * Admits a caller whose key or session was already checked. A caller whose role may not send does not use up the window
 * of the others.
 */
async function admitActor(parts: AcceptParts, actor: Actor, submission: Submission): Promise<AdmissionVerdict> {
  const forbidden = scopeRefusal(actor, submission.scope);
  const uncounted = submission.counted || actor.kind === 'system' || (actor.kind === 'user' && forbidden !== null);
  const count = uncounted ? null : await countSend(parts.sql, actor);
  const window = count && windowOf(count);
  const refusal = (count && rateRefusal('send', count)) ?? forbidden ?? bodyRefusal(submission);
  if (refusal) return { kind: 'refused', error: refusal, window };
  return { kind: 'admitted', sender: await senderFacts(parts.sql, actor), window };
}

function groupCredentials(submissions: readonly Submission[]) {
  const groups = new Map<string, { secret_hash: Buffer; address: string; wanted: number }>();
  for (const { actor } of submissions) {
    if (actor.kind !== 'credential') continue;
    const name = credentialName(actor);
    const group = groups.get(name);
    if (group) group.wanted += 1;
    else groups.set(name, { secret_hash: actor.secret_hash, address: actor.address, wanted: 1 });
  }
  return groups;
}

export function credentialName(credential: Credential): string {
  return `${credential.secret_hash.toString('latin1')} ${credential.address}`;
}

function refusedFor(response: KeyAnswer | undefined) {
  return response?.kind === 'refused' ? response.reason : 'unknown_key';
}

/**
 * Returns the error of a message that fails to parse, which rejects its request unless the request returns one result
 * per message.
 */
function bodyRefusal(submission: Submission): AppError | null {
  return submission.refusal(submission.messages.map((message) => (message.ok ? null : message.error)));
}
