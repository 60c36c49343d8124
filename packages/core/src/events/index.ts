export { type EventType, eventTypes, isMessageEvent } from './catalogue.ts';
export { type EventData, type EventEntry, eventEntry, eventSchema } from './event-entry.ts';
export { listEvents } from './list-events.ts';
export { type EventRow, eventsOf } from './store.ts';
