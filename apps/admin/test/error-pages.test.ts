import { advice, codeOf, type Reason, reasons } from '@postrider/core';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';

const world = await openWorld();
const admin = await openAdmin(world);

describe('/errors', () => {
  it("has a public page for every reason, which shows the reason's code", async () => {
    for (const reason of Object.keys(reasons) as Reason[]) {
      const response = await admin.get(`/errors/${reason}`, { host: 'mail.example.com' });

      expect(response.status).toBe(200);
      expect(response.text).toContain(`<h1>${reason}</h1>`);
      expect(response.text).toContain(`Code: ${codeOf(reason)}`);
      expect(response.text).toContain('<h2>What to do</h2>');
      expect(response.text).toContain('An answer');
      expect(advice[reason]).toMatch(/\.$/);
    }
  });

  it('lists every reason in the index', async () => {
    const { text } = await admin.get('/errors');

    for (const reason of Object.keys(reasons)) expect(text).toContain(`href="/errors/${reason}"`);
  });

  it.each(['nonsense', '__proto__', 'constructor', '%3Cscript%3E'])(
    'returns 404 for an unknown reason: %s',
    async (reason) => {
      const response = await admin.get(`/errors/${reason}`);

      expect(response.status).toBe(404);
      expect(response.text).not.toContain('<script>');
    },
  );
});

describe('an unknown page', () => {
  it('returns a JSON 404', async () => {
    const response = await admin.get('/nowhere');

    expect(response.status).toBe(404);
    expect(JSON.parse(response.text)).toMatchObject({ error: { code: 'not_found', reason: 'route_not_found' } });
  });
});
