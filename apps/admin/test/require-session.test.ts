import { getRequestListener } from '@hono/node-server';
import { type HttpListener, listenHttp } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AdminEnv } from '../src/admin-env.ts';
import { requireSession } from '../src/index.ts';
import { openAdmin } from './admin-server.ts';
import { type SignedIn, signedIn } from './signed-in.ts';

const world = await openWorld();
const admin = await openAdmin(world);
let person: SignedIn;
let origin: string;
let listener: HttpListener;
beforeAll(async () => {
  person = await signedIn(world, admin, 'viewer');
  const app = new Hono<AdminEnv>();
  app.use(requireSession(world.services, 'in a window'));
  app.all('*', (context) => context.text(context.var.actor.email));
  listener = await listenHttp(getRequestListener(app.fetch));
  origin = listener.url;
});
afterAll(async () => {
  await listener.stop();
});

describe('a page behind a session', () => {
  it('identifies the signed-in user', async () => {
    const response = await fetch(`${origin}/tool`, { headers: { cookie: person.cookie } });

    expect(await response.text()).toBe(person.email);
  });

  it('redirects to sign-in without a session, and then back to the page', async () => {
    const response = await fetch(`${origin}/tool?a=1&b=2`, { redirect: 'manual' });

    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe('/login?next=%2Ftool%3Fa%3D1%26b%3D2');
    expect((await fetch(`${origin}/tool`, { method: 'POST' })).status).toBe(401);
  });

  it('rejects requests from other sites that carry the cookie', async () => {
    const headers = { cookie: person.cookie, origin: 'https://evil.test' };

    expect((await fetch(`${origin}/tool`, { method: 'POST', headers })).status).toBe(403);
  });
});
