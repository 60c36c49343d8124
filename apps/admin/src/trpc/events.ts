import { listEvents } from '@postrider/core/events';
import { query, router } from './invoke-procedure.ts';
import { eventsStream } from './live.ts';

export const events = router({ list: query(listEvents), stream: eventsStream });
