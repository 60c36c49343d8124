import { expect, it } from 'vitest';
import { redactedBody } from './redact.ts';

it.each(['password', 'current_password', 'newPassword', 'client_secret', 'access_token', 'Authorization'])(
  'a rejected request is stored without its %s',
  (name) => {
    const stored = redactedBody({ [name]: 'hunter22 is long', role: 'viewer' }) ?? '';

    expect(stored).not.toContain('hunter22');
    expect(JSON.parse(stored)).toMatchObject({ role: 'viewer' });
  },
);
