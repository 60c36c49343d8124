import { listEvents } from '@postrider/core/events';
import { query, router } from './kit/invoke-procedure.ts';
import { eventsStream } from './live.ts';

export const events = router({ list: query(listEvents), stream: eventsStream });
