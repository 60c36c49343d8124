import type { HttpBindings } from '@hono/node-server';
import type { UserActor } from '@postrider/core';

/** The Hono context of every admin handler. */
export interface AdminEnv {
  readonly Bindings: HttpBindings;
  readonly Variables: {
    request_id: string;
    /** The client address, as far as trusted proxies tell. */
    address: string;
    /** The signed-in user, behind requireSession. */
    actor: UserActor;
  };
}
