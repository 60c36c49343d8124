import { setTimeout as pause } from 'node:timers/promises';
import type { Credential, Services } from '@postrider/core';
import { checkKey } from '@postrider/core/api-keys';
import { findBearer, type SessionBearer } from '@postrider/core/people';
import { chargeQuery, type OpenStream, openStream, spenderOf } from '@postrider/core/usage';
import { createLoaders } from './kit/loaders.ts';
import type { Follow, GraphqlContext } from './kit/request-context.ts';

const CHECK_MS = 30_000;
// Long enough for the budget to regain the cost of a usual event.
const BUDGET_MS = 1000;

export function createFollow(services: Services, credential: Credential | SessionBearer): Follow {
  return async (g, source) => {
    const spender = spenderOf(g.ctx.actor);
    const items = await source();
    const place = await openStream(services.sql, spender);
    services.metrics.shift('sse_clients', ['graphql'], 1);
    let left = false;
    const told = guarded(g, spender, items, place, () => left);
    // A generator can be ended only at a yield, and while it waits for an event it is not at one.
    return Object.assign(told, {
      return: async (value: unknown) => {
        left = true;
        return Object.getPrototypeOf(told).return.call(told, value);
      },
    });
  };

  /** A source yields null on a timeout, so that the key is checked even without events. */
  async function* guarded<T>(
    g: GraphqlContext,
    spender: string,
    items: AsyncGenerator<T | null>,
    place: OpenStream,
    isLeft: () => boolean,
  ): AsyncGenerator<T> {
    let checked = services.clock.now();
    const goesOn = async (look: boolean): Promise<boolean> => {
      if (isLeft()) return false;
      const due = services.clock.now() - checked >= CHECK_MS;
      if (due) checked = services.clock.now();
      if ((due || look) && !(await isValid(services, credential))) return false;
      if (due) await place.renew();
      return true;
    };
    try {
      for await (const item of items) {
        if (!(await goesOn(item !== null))) return;
        if (item === null) continue;
        // Each event costs points; without points the stream waits and skips no event.
        while ('error' in (await chargeQuery(services.sql, spender, g.cost.requested))) {
          await pause(BUDGET_MS);
          if (!(await goesOn(true))) return;
        }
        g.load = createLoaders(g.ctx);
        g.cost.beginAnswer();
        yield item;
      }
    } finally {
      services.metrics.shift('sse_clients', ['graphql'], -1);
      await place.close();
    }
  }
}

async function isValid(services: Services, credential: Credential | SessionBearer): Promise<boolean> {
  return credential.kind === 'session'
    ? (await findBearer(services, credential)) !== null
    : (await checkKey(services, credential)) === null;
}
