import { getRequest, listRequests, requestGroups } from '@postrider/core/requests';
import { query, router } from './kit/invoke-procedure.ts';

export const requests = router({ list: query(listRequests), get: query(getRequest), groups: query(requestGroups) });
