import { setTimeout as pause } from 'node:timers/promises';
import type { Actor, Credential, Services } from '@postrider/core';
import { checkKey } from '@postrider/core/api-keys';
import { isBearerStillSame, type SessionBearer } from '@postrider/core/people';
import { chargeQuery, type OpenStream, openStream, spenderOf } from '@postrider/core/usage';
import { watchStream } from '../session/watch-stream.ts';
import { createLoaders } from './kit/loaders.ts';
import type { Follow, GraphqlContext } from './kit/request-context.ts';

// Long enough for the budget to recover the cost of a typical event.
const BUDGET_MS = 1000;

export function createFollow(services: Services, credential: Credential | SessionBearer): Follow {
  return async (g, source) => {
    const spender = spenderOf(g.ctx.actor);
    const items = await source();
    const place = await openStream(services.sql, { key_id: spender, workspace_id: g.ctx.actor.workspace_id });
    services.metrics.shift('sse_clients', ['graphql'], 1);
    let has_left = false;
    const stream = guarded(g, spender, items, place, () => has_left);
    // A generator can return only at a `yield`, not while it waits for an event.
    return Object.assign(stream, {
      return: async (value: unknown) => {
        has_left = true;
        return Object.getPrototypeOf(stream).return.call(stream, value);
      },
    });
  };

  /**
   * Streams a source's events while the caller may continue. A source yields null on timeout so that the key is checked
   * even without events.
   */
  async function* guarded<T>(
    g: GraphqlContext,
    spender: string,
    items: AsyncGenerator<T | null>,
    place: OpenStream,
    isLeft: () => boolean,
  ): AsyncGenerator<T> {
    const mayContinue = watchStream(services, place, () => isAdmitted(services, credential, g.ctx.actor));
    const shouldContinue = async (look: boolean) => !isLeft() && (await mayContinue(look));
    try {
      for await (const item of items) {
        if (!(await shouldContinue(item !== null))) return;
        if (item === null) continue;
        // Each event costs points. When points run out, the stream waits rather than skipping events.
        while ('error' in (await chargeQuery(services.sql, spender, g.cost.requested))) {
          await pause(BUDGET_MS);
          if (!(await shouldContinue(true))) return;
        }
        g.load = createLoaders(g.ctx);
        g.cost.startResponse();
        yield item;
      }
    } finally {
      services.metrics.shift('sse_clients', ['graphql'], -1);
      await place.close();
    }
  }
}

async function isAdmitted(services: Services, credential: Credential | SessionBearer, actor: Actor): Promise<boolean> {
  if (credential.kind !== 'session') return (await checkKey(services, credential)) === null;
  return actor.kind === 'user' && isBearerStillSame(services, credential, actor);
}
