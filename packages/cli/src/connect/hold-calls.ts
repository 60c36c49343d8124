import type { HoldEntry } from '@postrider/core/holds';
import type { Terminal } from '../terminal/terminal.ts';
import { enumValue, graphql, mutation, query, select } from './graphql.ts';
import type { Holds } from './holds.ts';

const HOLD = `id scope value workspaceId reason status createdAt expiresAt endedAt endedBy resumeRatePerMin affected
  createdBy { kind id name }`;
const PAYLOAD = select<{ hold: HoldEntry }>(`... on HoldPayload { hold { ${HOLD} } }`);
const holdCreate = mutation('holdCreate', 'HoldInput', PAYLOAD);
const holdRelease = mutation('holdRelease', 'HoldReleaseInput', PAYLOAD);
const holds = query('holds', { active: 'Boolean' }, select<readonly HoldEntry[]>(HOLD));

export async function holdsOf(terminal: Terminal, local: boolean | undefined): Promise<Holds> {
  // Loaded on demand, because it takes half a second.
  return local ? (await import('../machine/holds.ts')).machineHolds(terminal) : holdsOverHttp(terminal);
}

function holdsOverHttp(terminal: Terminal): Holds {
  return {
    async create({ scope, value, reason, expires_at, resume_rate_per_minute, workspace_id }) {
      const input = {
        scope: enumValue(scope),
        value,
        reason,
        expiresAt: expires_at,
        resumeRatePerMin: resume_rate_per_minute,
        workspaceId: workspace_id,
      };
      return holdOf(await graphql(terminal, holdCreate, { input }));
    },
    async release({ id, resume_rate_per_minute: resumeRatePerMin, at_once: atOnce }) {
      return holdOf(await graphql(terminal, holdRelease, { input: { id, resumeRatePerMin, atOnce } }));
    },
    async list(active) {
      const rows = await graphql(terminal, holds, { active });
      return rows.map((hold) => holdOf({ hold }));
    },
  };
}

function holdOf({ hold }: { readonly hold: HoldEntry }): HoldEntry {
  return { ...hold, object: 'hold' };
}
