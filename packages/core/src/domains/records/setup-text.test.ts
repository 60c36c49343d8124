import { expect, it } from 'vitest';
import { setupSteps } from './setup-text.ts';

it('the setup text omits the correction step for a record whose query went unanswered (newcomer N19)', () => {
  const record = {
    purpose: 'dkim',
    required: true,
    type: 'TXT',
    host: 'pr1._domainkey',
    fqdn: 'pr1._domainkey.example.com',
    value: 'v=DKIM1; k=rsa; p=abc',
    ttl: 3600,
    status: 'lookup_error',
    diagnosis: 'lookup_failed',
    found: [],
    hint: 'The lookup failed, because no name server answered in time: check the name servers of the domain.',
    key_role: 'active',
    observed: [],
    checked_at: null,
  } as const;

  const steps = setupSteps('example.com', [record]);

  expect(steps.join('\n')).not.toMatch(/Correct|Add/);
  expect(steps[1]).toContain('could not be looked up: The lookup failed');
});
