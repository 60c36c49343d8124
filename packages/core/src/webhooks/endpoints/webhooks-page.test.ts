import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { webhooksPage, withEvents } from '../../../../../scripts/list-events.ts';
import { eventTypes } from '../../events/index.ts';

const page = readFileSync(webhooksPage, 'utf8');

describe('docs/webhooks.md', () => {
  it('lists the current events (regenerate it with node scripts/list-events.ts)', () => {
    expect(page).toBe(withEvents(page));
    for (const type of eventTypes) expect(page).toContain(`| \`${type}\` |`);
  });

  it('has an example with a correct signature', () => {
    const line = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(page)?.[1] ?? '';
    const body = /^\{"id":.*\}$/m.exec(page)?.[0] ?? '';
    const key = Buffer.from(line('secret').replace('whsec_', ''), 'base64');

    const signed = `${line('webhook-id')}.${line('webhook-timestamp')}.${body}`;
    const expected = createHmac('sha256', key).update(signed).digest('base64');

    expect(line('webhook-signature')).toBe(`v1,${expected}`);
  });
});
