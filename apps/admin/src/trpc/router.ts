import { alarms } from './alarms.ts';
import { apiKeys } from './api-keys.ts';
import { audit } from './audit.ts';
import { captures } from './captures.ts';
import { destinations } from './destinations.ts';
import { docs } from './docs.ts';
import { domains } from './domains.ts';
import { emails } from './emails.ts';
import { erasures } from './erasures.ts';
import { events } from './events.ts';
import { holds } from './holds.ts';
import { router } from './kit/invoke-procedure.ts';
import { live } from './live.ts';
import { ops } from './ops.ts';
import { addresses, find, onboarding, overview } from './overview.ts';
import { invitations, members, operators, people, session } from './people.ts';
import { requests } from './requests.ts';
import { stats } from './stats.ts';
import { suppressions } from './suppressions.ts';
import { test } from './test-send.ts';
import { transports } from './transports.ts';
import { usage } from './usage.ts';
import { deliveries, webhooks } from './webhooks.ts';
import { plans, workspaces } from './workspaces.ts';

/** The dashboard's tRPC API. */
export const appRouter = router({
  addresses,
  alarms,
  apiKeys,
  audit,
  captures,
  deliveries,
  destinations,
  docs,
  domains,
  emails,
  erasures,
  events,
  find,
  holds,
  live,
  invitations,
  members,
  onboarding,
  operators,
  overview,
  people,
  plans,
  requests,
  session,
  stats,
  ops,
  suppressions,
  test,
  transports,
  usage,
  webhooks,
  workspaces,
});
export type { AuditAction } from '@postrider/core/audit';

export type AppRouter = typeof appRouter;

/** The paths of all procedures, such as emails.list. */
export const procedureNames: readonly string[] = Object.keys(appRouter._def.procedures);
