import { exampleId } from '../fields/wire.ts';
import { type EventType, eventCatalogue } from './catalogue.ts';
import { type EventEntry, statusAfterEvent } from './event-entry.ts';

const HAPPENED_AT = '2030-01-31T09:00:00.000Z';

const email: Omit<NonNullable<EventEntry['data']['email']>, 'created_at'> = {
  id: exampleId('msg_'),
  from: 'Engine News <news@example.com>',
  to: ['ada@example.net'],
  subject: 'Your receipt',
  tags: ['receipt'],
  metadata: { order: '1815' },
  message_id: `<${exampleId('msg_')}@example.com>`,
};

/** Returns an example event of a type, for the docs and for testing an endpoint. */
export function exampleEvent(type: EventType, created_at = HAPPENED_AT): EventEntry {
  const { about: description, example } = eventCatalogue[type];
  const of_mail = description === 'message' || description === 'recipient';
  const recipient_id = description === 'recipient' ? exampleId('rcp_') : null;
  return {
    id: exampleId('evt_'),
    type,
    created_at,
    sequence: description === 'recipient' ? 2 : description === 'message' ? 1 : 0,
    email_id: of_mail ? exampleId('msg_') : null,
    recipient_id,
    data: {
      ...example,
      email: of_mail ? { ...email, created_at } : null,
      recipient:
        recipient_id === null ? null : { id: recipient_id, email: 'ada@example.net', status: statusAfterEvent(type) },
    },
  };
}
