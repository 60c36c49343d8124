import { newId } from './fields/ids.ts';
import type { Actor, Context, Credential, Services, Via } from './operation/context.ts';

/** Creates the context of one request or job. */
export function createContext(
  services: Services,
  actor: Actor | Credential,
  request: {
    readonly request_id?: string;
    readonly idempotency_key?: string | null;
    readonly via?: Via;
    readonly address?: string | null;
    readonly trace?: string | null;
    readonly send_counted?: boolean;
  } = {},
): Context {
  return {
    ...services,
    actor,
    request_id: request.request_id ?? newId('request', services.clock.now()),
    via: request.via ?? 'worker',
    address: request.address ?? null,
    trace: request.trace ?? null,
    send_counted: request.send_counted ?? false,
    idempotency_key: request.idempotency_key ?? null,
    notes: { window: null, replayed: false, ignored_fields: [], session_token: null },
  };
}
