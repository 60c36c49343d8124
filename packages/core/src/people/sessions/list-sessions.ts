import { z } from 'zod';
import { isoTime } from '../../fields/clock.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName, timeField } from '../../fields/wire.ts';
import { operation } from '../../operation/operation.ts';
import { deviceOf } from '../notices/device-of.ts';
import { requirePerson } from '../person.ts';
import { sessionsOf } from './session-store.ts';

const MAX_SESSIONS = 100;

const sessionSchema = z.object({
  object: objectName('session'),
  id: idField(idPrefixes.session),
  current: z.boolean().meta({ description: 'Whether it is the session of this request.' }),
  method: z.enum(['password', 'login_link']).meta({ description: 'How it was started.' }),
  address: z.string().nullable().meta({ description: 'The IP address that it was started from.' }),
  device: z.string().nullable().meta({ description: 'The browser and its system; null if unknown.' }),
  user_agent: z.string().nullable().meta({ description: 'What the browser says it is.' }),
  created_at: timeField,
  last_used_at: timeField.meta({ description: 'The last use, up to a minute late.' }),
});

/** Returns the caller's live sessions, the most recently used first. */
export const listSessions = operation({
  name: 'people.sessions',
  scope: null,
  without_factor: true,
  summary: 'Your sessions, the most recently used first',
  input: z.object({}),
  output: z.array(sessionSchema).readonly(),
  async run(ctx) {
    const { user_id, session_id } = requirePerson(ctx);
    const rows = await sessionsOf(ctx.sql, user_id, MAX_SESSIONS);
    return rows.map(({ id, by_link, address, user_agent, created_at, last_used_at }) => ({
      object: 'session' as const,
      id,
      current: id === session_id,
      method: by_link ? ('login_link' as const) : ('password' as const),
      address,
      device: user_agent && deviceOf(user_agent),
      user_agent,
      created_at: isoTime(created_at),
      last_used_at: isoTime(last_used_at),
    }));
  },
});
