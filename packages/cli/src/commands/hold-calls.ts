import type { HoldEntry } from '@postrider/core/holds';
import { change, enumValue, read } from '../connect/graphql.ts';
import type { Holds } from '../connect/holds.ts';
import type { Terminal } from '../terminal/terminal.ts';

const HOLD = `id scope value workspaceId reason status createdAt expiresAt endedAt endedBy resumeRatePerMin affected
  createdBy { kind id name }`;
const PAYLOAD = `... on HoldPayload { hold { ${HOLD} } }`;

export async function holdsOf(terminal: Terminal, local: boolean | undefined): Promise<Holds> {
  // Loaded on demand, because it takes half a second.
  return local ? (await import('../machine/holds.ts')).holdsOfMachine(terminal) : holdsOverHttp(terminal);
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
      return holdOf(await change(terminal, 'holdCreate', ['HoldInput', input], PAYLOAD));
    },
    async release({ id, resume_rate_per_minute: resumeRatePerMin, at_once: atOnce }) {
      const input = ['HoldReleaseInput', { id, resumeRatePerMin, atOnce }] as const;
      return holdOf(await change(terminal, 'holdRelease', input, PAYLOAD));
    },
    async list(active) {
      const found = await read<readonly HoldEntry[]>(terminal, 'holds', HOLD, { active: ['Boolean', active] });
      return found.map((hold) => holdOf({ hold }));
    },
  };
}

function holdOf({ hold }: { readonly hold: HoldEntry }): HoldEntry {
  return { ...hold, object: 'hold' };
}
