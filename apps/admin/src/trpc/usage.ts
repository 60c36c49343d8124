import { getUsage, readMonthUsages } from '@postrider/core/usage';
import { query, router } from './kit/invoke-procedure.ts';

export const usage = router({ get: query(getUsage), months: query(readMonthUsages) });
