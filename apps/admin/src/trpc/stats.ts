import { getStats, statSeries } from '@postrider/core/stats';
import { query, router } from './kit/invoke-procedure.ts';

export const stats = router({ series: query(statSeries), get: query(getStats) });
