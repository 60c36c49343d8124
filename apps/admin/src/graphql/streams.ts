import { AppError, type Credential, type Services } from '@postrider/core';
import { checkKey } from '@postrider/core/api-keys';
import { type OpenStream, openStream } from '@postrider/core/usage';
import { createLoaders } from './loaders.ts';
import type { GraphqlContext } from './request-context.ts';

const CHECK_MS = 30_000;

/** Opens streams for one request: each has a place among those of its key, and ends when the key does. */
export type Follow = <T>(
  g: GraphqlContext,
  source: () => Promise<AsyncGenerator<T | null>>,
) => Promise<AsyncGenerator<T>>;

export function createFollow(services: Services, credential: Credential): Follow {
  return async (g, source) => {
    const { actor } = g.ctx;
    if (actor.kind !== 'key') throw new AppError('missing_key', 'Streams are for API keys.');
    const items = await source();
    const place = await openStream(services.sql, actor.key_id);
    let left = false;
    const told = guarded(g, items, place, () => left);
    // While nothing comes, the generator is not at a yield, where alone it could be ended.
    return Object.assign(told, {
      return: async (value: unknown) => {
        left = true;
        return Object.getPrototypeOf(told).return.call(told, value);
      },
    });
  };

  /** A source says null when nothing comes, so that the key is looked at all the same. */
  async function* guarded<T>(
    g: GraphqlContext,
    items: AsyncGenerator<T | null>,
    place: OpenStream,
    isLeft: () => boolean,
  ): AsyncGenerator<T> {
    let checked = services.clock.now();
    try {
      for await (const item of items) {
        if (isLeft()) return;
        if (services.clock.now() - checked >= CHECK_MS) {
          checked = services.clock.now();
          if (await checkKey(services, credential)) return;
          await place.renew();
        }
        if (item === null) continue;
        g.load = createLoaders(g.ctx);
        yield item;
      }
    } finally {
      await place.close();
    }
  }
}
