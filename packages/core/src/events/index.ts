export { type EventType, eventCatalogue, eventTypes, isMessageEvent } from './catalogue.ts';
export { type EventData, type EventEntry, eventEntry, eventSchema, statusAfterEvent } from './event-entry.ts';
export { exampleEvent } from './example-event.ts';
export { type FollowedEvent, followEvents } from './follow-events.ts';
export { eventTypeField, listEvents } from './list-events.ts';
export { readEvents, readLastEvents, readTimelines, type TimelineEvent } from './read-events.ts';
export { type EventRow, eventsOf, recordEvent, type SubjectRow } from './store.ts';
