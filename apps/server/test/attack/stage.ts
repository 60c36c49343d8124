import { type Scope, scopes } from '@postrider/core/api-keys';
import type { WorkspaceRole } from '@postrider/core/people';
import { createRole } from '@postrider/inbound';
import type { World } from '@postrider/testing';
import { type Apis, type Caller, callerOf, startApis } from '../parity/apis.ts';

export type Role = WorkspaceRole | 'operator';

/** Servers with a target workspace, and another workspace whose admin attacks it. */
export interface Stage {
  readonly world: World;
  readonly apis: Apis;
  readonly submission_port: number;
  readonly bounce_port: number;
  /** A caller in the target workspace with every permission. */
  readonly owner: Caller;
  /** An admin of the other workspace, with a key that has the admin scope. */
  readonly neighbor: Caller;
  readonly neighbor_workspace_id: string;
  readonly roles: Readonly<Record<Role, Caller>>;
  /** Creates a key of the target workspace with these scopes, or a session in this role. */
  caller(scopes: readonly Scope[], role?: Role): Promise<Caller>;
  /** Advances to the next minute, with full windows and budgets, and with every user freshly signed in. */
  nextMinute(): Promise<void>;
  /** Returns a number that no attempt has used. */
  count(): number;
  /** Returns every row of the target workspace that an attempt must not change. */
  rows(): Promise<ReadonlyMap<string, string | null>>;
  /** Returns the IDs of the target workspace. */
  ids(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

const MINUTE_MS = 60_000;
// Tables that every request writes to, including rejected ones.
const TRACES = ['requests', 'request_groups', 'usage_months', 'rate_windows', 'api_calls'];

export async function openStage(world: World): Promise<Stage> {
  const { services, workspace_id } = world;
  let now_ms = Date.UTC(2030, 4, 15, 12);
  let number = 0;
  await world.clock.freeze(new Date(now_ms));
  await world.domain('victim.test');
  const apis = await startApis(world);
  const config = { ...services.config, SUBMISSION_PORT: 0, INBOUND_PORT: 0, CAPTURE_PORT: 0 };
  const inbound = createRole({ ...services, config });
  await inbound.start();
  const callers = new Map<string, Promise<Caller>>();
  const caller = (held: readonly Scope[], role: Role = 'viewer') => {
    const name = `${held} ${role}`;
    const new_caller = callers.get(name) ?? callerOf(world, workspace_id, held, role);
    callers.set(name, new_caller);
    return new_caller;
  };
  const other = await world.workspace('business');
  const tables = await workspaceTables(world);
  const own = `workspace_id = id_of('${workspace_id}')`;
  return {
    world,
    apis,
    submission_port: inbound.submission_ports[0] ?? 0,
    bounce_port: inbound.inbound_port ?? 0,
    owner: await caller(scopes, 'operator'),
    neighbor: await callerOf(world, other.workspace_id, ['admin'], 'admin'),
    neighbor_workspace_id: other.workspace_id,
    roles: {
      viewer: await caller(['email:send'], 'viewer'),
      member: await caller(['email:send'], 'member'),
      admin: await caller(['email:send'], 'admin'),
      operator: await caller(['email:send'], 'operator'),
    },
    caller,
    async nextMinute() {
      now_ms += MINUTE_MS;
      await world.clock.freeze(new Date(now_ms));
      await services.sql`delete from webhooks`;
      await services.sql`update sessions set authenticated_at = clock_now(), last_used_at = clock_now()`;
    },
    count: () => ++number,
    async rows() {
      const each = tables.map(
        ({ name }) => `
          select '${name}' as name, md5(string_agg(row, '' order by row)) as sum
          from (select (to_jsonb(t) - 'last_used_at')::text as row from ${name} t where ${own}) rows`,
      );
      const rows = await services.sql.unsafe<{ name: string; sum: string | null }[]>(each.join(' union all '));
      return new Map(rows.map(({ name, sum }) => [name, sum]));
    },
    async ids() {
      const each = tables
        .filter(({ has_id }) => has_id)
        .map(({ name }) => `select id_text(id) as id from ${name} where ${own}`);
      const rows = await services.sql.unsafe<{ id: string }[]>(each.join(' union all '));
      return rows.map(({ id }) => id);
    },
    async stop() {
      await Promise.all([apis.stop(), inbound.stop()]);
    },
  };
}

interface Table {
  readonly name: string;
  readonly has_id: boolean;
}

function workspaceTables({ services }: World): Promise<Table[]> {
  return services.sql<Table[]>`
    select c.relname as name, exists (
      select from pg_attribute i where i.attrelid = c.oid and i.attname = 'id' and i.atttypid = 'uuid'::regtype
    ) as has_id
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.atttypid = 'uuid'::regtype and c.relname <> all (${TRACES}::text[])
    order by c.relname`;
}
