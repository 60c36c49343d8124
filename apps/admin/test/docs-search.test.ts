import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { dashboard, refusalOf, signedIn } from './signed-in.ts';

const world = await openWorld();
const admin = await openAdmin(world);

it('docs.search returns sections of the documentation', async () => {
  const { api } = await signedIn(world, admin, 'viewer');

  const { data } = await api.docs.search.query({ text: 'idempotency key', limit: 3 });

  expect(data).toHaveLength(3);
  for (const { title, path } of data) {
    const [page, anchor] = path.split('#');
    const html = await (await fetch(`http://127.0.0.1:${admin.port}${page}`)).text();
    expect(html).toContain(`id="${anchor}"`);
    expect(title).not.toBe('');
  }
  expect(data.map(({ heading }) => heading.toLowerCase()).join()).toContain('idempotency');
  expect((await api.docs.search.query({ text: 'zyzzogeton' })).data).toEqual([]);
});

it('docs.search rejects a text or limit that is out of bounds', async () => {
  const { api } = await signedIn(world, admin, 'viewer');

  for (const input of [{ text: ' ' }, { text: 'x'.repeat(201) }, { text: 'domains', limit: 7 }])
    expect(await refusalOf(api.docs.search.query(input))).toMatchObject({ status: 400 });
});

it('docs.search requires a session', async () => {
  const anonymous = dashboard(admin.port, '');

  expect(await refusalOf(anonymous.docs.search.query({ text: 'domains' }))).toMatchObject({ reason: 'session_ended' });
});
