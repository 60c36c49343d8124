import { listEvents, readEvents } from '@postrider/core/events';
import { query, router } from './kit/invoke-procedure.ts';

export const events = router({ list: query(listEvents), byId: query(readEvents) });
