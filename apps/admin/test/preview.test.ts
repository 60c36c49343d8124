import { createContext, invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { listAudit } from '@postrider/core/audit';
import { createWorld, type World } from '@postrider/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminServer, startAdmin } from './admin-server.ts';
import { signedIn } from './signed-in.ts';

let world: World;
let admin: AdminServer;
let id: string;
let path: string;
beforeAll(async () => {
  world = await createWorld();
  admin = await startAdmin(world.services);
  const mail = {
    from: 'hello@sandbox.test',
    to: 'ada@example.com',
    subject: 'Read me',
    html: '<h1>Hello</h1><script>alert(1)</script>',
  };
  ({ id } = await invoke(world.as(world.workspace_id), sendMessage, mail));
  path = `/w/${world.workspace_id}/preview/${id}`;
});
afterAll(async () => {
  await admin.stop();
  await world.stop();
});

describe('/w/{workspace}/preview/{id}', () => {
  it("shows an email's HTML in a sandbox that loads and runs nothing", async () => {
    const { cookie } = await signedIn(world, admin, 'admin');

    const { status, headers, text } = await admin.get(path, { cookie });

    expect(status).toBe(200);
    expect(text).toContain('<h1>Hello</h1>');
    expect(headers['content-security-policy']).toBe(
      "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'",
    );
    expect(headers['cache-control']).toBe('no-store');
  });

  it.each([
    ['/preview', 'navigate', 'document', 'none', 200],
    ['/preview', 'navigate', 'iframe', 'same-origin', 200],
    ['/preview', 'navigate', 'iframe', 'cross-site', 403],
    ['/preview', 'navigate', 'embed', 'same-origin', 403],
    ['/preview', 'cors', 'empty', 'same-origin', 403],
    ['/graphiql', 'navigate', 'document', 'none', 200],
    ['/graphiql', 'navigate', 'document', 'same-origin', 200],
    ['/graphiql', 'navigate', 'iframe', 'same-origin', 403],
    ['/graphiql', 'cors', 'empty', 'same-origin', 403],
    ['/graphiql', 'no-cors', 'script', 'same-origin', 403],
  ])('fairness P36: %s in mode %s for %s of site %s returns %i', async (...row) => {
    const [page, mode, dest, site, expected] = row;
    const { cookie } = await signedIn(world, admin, 'admin');
    const headers = { cookie, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest, 'sec-fetch-site': site };

    const { status } = await admin.get(page === '/preview' ? path : `/w/${world.workspace_id}${page}`, headers);

    expect(status).toBe(expected);
  });

  it("loads images from other hosts only at the reader's request", async () => {
    const { cookie } = await signedIn(world, admin, 'admin');

    const { headers } = await admin.get(`${path}?images=1`, { cookie });

    expect(headers['content-security-policy']).toContain('img-src data: https: http:;');
    expect(headers['content-security-policy']).toContain('sandbox;');
  });

  it('is available to workspace admins, and records each view in the audit log', async () => {
    const reader = await signedIn(world, admin, 'admin');
    const member = await signedIn(world, admin, 'member');
    const foreign = await world.workspace('business');
    const stranger = await signedIn(world, admin, 'admin', foreign.workspace_id);

    await admin.get(path, { cookie: reader.cookie });

    expect((await admin.get(path, { cookie: member.cookie })).status).toBe(403);
    expect((await admin.get(path, { cookie: stranger.cookie })).status).toBe(404);
    expect((await admin.get(path)).status).toBe(302);
    const actor = { kind: 'system', workspace_id: world.workspace_id } as const;
    const { data } = await invoke(createContext(world.services, actor), listAudit, {});
    expect(data).toContainEqual(expect.objectContaining({ action: 'message.content_read', target_id: id }));
  });
});
