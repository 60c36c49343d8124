import { createContext, invoke } from '@postrider/core';
import { type Change, followWorkspace } from '@postrider/core/overview';
import { isStillSame } from '@postrider/core/people';
import { type OpenStream, openStream } from '@postrider/core/usage';
import { watchStream } from '../session/watch-stream.ts';
import { type Caller, refusing, signedIn, subscriptions } from './kit/invoke-procedure.ts';

/**
 * Streams changes as they are committed, over one connection per browser, because HTTP/1.1 allows only six per host. A
 * page refetches the data that a change affects, or everything after a reconnect. The stream counts against the
 * session's stream limit and closes when the session ends. If the stream is refused, the response is the error.
 */
export const live = subscriptions.subscription(({ ctx: caller, signal }) =>
  refusing(async () => {
    const { services, request_id, address } = caller;
    const actor = signedIn(caller);
    const context = createContext(services, actor, { request_id, address, via: 'dashboard' });
    const changes = await invoke(context, followWorkspace, {});
    try {
      return followChanges(
        caller,
        signal,
        changes,
        await openStream(services.sql, { key_id: actor.session_id, workspace_id: actor.workspace_id }),
      );
    } catch (error) {
      await changes.return(undefined);
      throw error;
    }
  }),
);

async function* followChanges(
  caller: Caller,
  signal: AbortSignal | undefined,
  changes: AsyncGenerator<Change | null>,
  place: OpenStream,
): AsyncGenerator<Change, void, unknown> {
  const { services } = caller;
  const mayContinue = watchStream(services, place, () => isStillSame(services, signedIn(caller)));
  try {
    for await (const change of changes) {
      if (signal?.aborted || !(await mayContinue(false))) return;
      if (change !== null) yield change;
    }
  } finally {
    await place.close();
  }
}
