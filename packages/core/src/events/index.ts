export { type EventType, eventTypes } from './catalogue.ts';
