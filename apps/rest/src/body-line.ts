import type { IncomingMessage } from 'node:http';
import type { Context, Services } from '@postrider/core';
import { bodyBudgetUsed, ShareRejected } from '@postrider/core/shares';
import { incompleteBody } from './read-body.ts';

export interface BodyPlace {
  /** Waits until there is room for this many bytes. */
  reserve(bytes: number): Promise<void>;
  /** Releases the reservation. */
  leave(): void;
}

/**
 * Returns a request's place in the queue for large bodies. The request leaves the queue when its client disconnects.
 * Most bodies are small and never reserve, so a place costs nothing until then.
 */
export function bodyPlaceOf({ body_line }: Services, { actor }: Context, request: IncomingMessage): BodyPlace {
  const leaves: (() => void)[] = [];
  return {
    async reserve(bytes) {
      if (request.destroyed) throw incompleteBody();
      const owner = actor.kind === 'credential' ? actor.secret_hash.toString('base64') : actor.workspace_id;
      const departure = new AbortController();
      const onClose = () => departure.abort(incompleteBody());
      request.once('close', onClose);
      try {
        leaves.push(await body_line.enter(owner, bytes, departure.signal));
      } catch (error) {
        throw error instanceof ShareRejected ? bodyBudgetUsed() : error;
      } finally {
        request.off('close', onClose);
      }
    },
    leave() {
      for (const leave of leaves.splice(0)) leave();
    },
  };
}
