import { advice, codeOf, type Reason, reasons } from '@postrider/core';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';

const world = await openWorld();
const admin = await openAdmin(world);

describe('/errors', () => {
  it('every reason has a public page that names its code', async () => {
    for (const reason of Object.keys(reasons) as Reason[]) {
      const answer = await admin.get(`/errors/${reason}`, { host: 'mail.example.com' });

      expect(answer.status).toBe(200);
      expect(answer.text).toContain(`<h1>${reason}</h1>`);
      expect(answer.text).toContain(`Code: ${codeOf(reason)}`);
      expect(answer.text).toContain('<h2>What to do</h2>');
      expect(answer.text).toContain('An answer');
      expect(advice[reason]).toMatch(/\.$/);
    }
  });

  it('the index lists every reason', async () => {
    const { text } = await admin.get('/errors');

    for (const reason of Object.keys(reasons)) expect(text).toContain(`href="/errors/${reason}"`);
  });

  it.each(['nonsense', '__proto__', 'constructor', '%3Cscript%3E'])(
    'an unknown reason, %s, returns 404',
    async (reason) => {
      const answer = await admin.get(`/errors/${reason}`);

      expect(answer.status).toBe(404);
      expect(answer.text).not.toContain('<script>');
    },
  );
});

describe('an unknown page', () => {
  it('an unknown page returns a JSON 404', async () => {
    const answer = await admin.get('/nowhere');

    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'not_found', reason: 'route_not_found' } });
  });
});
