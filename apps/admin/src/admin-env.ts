import type { HttpBindings } from '@hono/node-server';
import type { UserActor } from '@postrider/core';

/** The Hono context of every admin handler. */
export interface AdminEnv {
  readonly Bindings: HttpBindings;
  readonly Variables: {
    request_id: string;
    /** The client address. X-Forwarded-For is honored only from trusted proxies. */
    address: string;
    /** The traceparent of an API request, or null if it is not sampled. */
    trace: string | null;
    /** The signed-in user, set by requireSession. */
    actor: UserActor;
  };
}
