import './types/alarms.ts';
import './types/api-keys.ts';
import './types/attempts.ts';
import './types/audit.ts';
import './types/backlog.ts';
import './types/bulk.ts';
import './types/domains.ts';
import './types/events.ts';
import './types/failures.ts';
import './types/find.ts';
import './types/health.ts';
import './types/holds.ts';
import './types/jobs.ts';
import './types/messages.ts';
import './types/people.ts';
import './types/queues.ts';
import './types/recipients.ts';
import './types/stats.ts';
import './types/suppressions.ts';
import './types/viewer.ts';
import './types/webhooks.ts';
import './types/workspaces.ts';
import { countShortPages } from './cost/short-pages.ts';
import { builder } from './kit/builder.ts';
import { answerIdsAtOnce } from './kit/node-ids.ts';

/** The whole schema: every file in types/ adds its own to the one builder. */
export const schema = answerIdsAtOnce(countShortPages(builder.toSchema()));
