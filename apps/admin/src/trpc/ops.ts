import { getBacklog } from '@postrider/core/backlog';
import { failureGroups } from '@postrider/core/failures';
import { query, router } from './invoke-procedure.ts';

export const ops = router({ backlog: query(getBacklog), failureGroups: query(failureGroups) });
