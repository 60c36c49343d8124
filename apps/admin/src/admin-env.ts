import type { HttpBindings } from '@hono/node-server';
import type { UserActor } from '@postrider/core';

/** What every handler of the admin side finds in its Hono context. */
export interface AdminEnv {
  readonly Bindings: HttpBindings;
  readonly Variables: {
    request_id: string;
    /** Where the request comes from, as far as trusted proxies tell. */
    address: string;
    /** Who is signed in, behind requireSession. */
    actor: UserActor;
    /** Who looks at captured mail; null for whoever sits at the machine. */
    viewer: UserActor | null;
  };
}
