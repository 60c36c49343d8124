import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { signedIn } from './signed-in.ts';

const world = await openWorld();
const admin = await openAdmin(world);

it('GraphiQL is shown to signed-in users, and may connect only to its own host', async () => {
  const { cookie } = await signedIn(world, admin, 'viewer');

  const page = await admin.get(`/w/${world.workspace_id}/graphiql`, { cookie });

  expect(page.status).toBe(200);
  expect(page.text).toContain('<title>Postrider GraphQL</title>');
  expect(page.text).not.toMatch(/<(?:script|link)[^>]+(?:src|href)="https?:/);
  expect(String(page.headers['content-security-policy'])).toMatch(/default-src 'none';.* connect-src 'self';/);
});

it('GraphiQL is hidden without a session', async () => {
  for (const headers of [{}, { cookie: 'sid=nonsense' }, { authorization: `Bearer ${world.secret}` }]) {
    const page = await admin.get('/graphiql', headers);

    expect([page.status, page.headers.location]).toEqual([302, '/login?next=%2Fgraphiql']);
    expect(page.text).not.toContain('GraphiQL');
  }
});
