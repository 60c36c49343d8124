import { getRequest, listRequests } from '@postrider/core/requests';
import { query, router } from './kit/invoke-procedure.ts';

export const requests = router({ list: query(listRequests), get: query(getRequest) });
