import { readdirSync, readFileSync } from 'node:fs';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { descriptions } from '../src/docs/descriptions.ts';
import { allPages } from '../src/docs/library.ts';
import { openAdmin } from './admin-server.ts';

const PUBLIC_URL = 'https://mail.example.com';
const world = await openWorld({ TRUSTED_PROXIES: '127.0.0.0/8', PUBLIC_URL });
const admin = await openAdmin(world);

const anchorsOf = (text: string) => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);

describe('/docs', () => {
  it('serves every page in the repository, without signing in', async () => {
    const { status, text } = await admin.get('/docs', { host: 'mail.example.com' });

    expect(status).toBe(200);
    const files = readdirSync(new URL('../../../docs', import.meta.url)).filter((name) => name.endsWith('.md'));
    for (const file of files) expect(text).toContain(`href="/docs/${file.replace('.md', '')}"`);
    expect(text).toContain('href="/docs/sdk"');
    expect(text).toContain('href="/docs/api"');
  });

  it('states the purpose of every page, and lists the design decisions behind a single link', async () => {
    const { text } = await admin.get('/docs');
    const { text: decisions } = await admin.get('/docs/decisions');
    const pages = allPages().filter(({ name }) => !name.startsWith('decisions/'));

    expect(Object.keys(descriptions).sort()).toEqual(pages.map(({ name }) => name).sort());
    expect(text).toContain('href="/docs/decisions"');
    expect(text).not.toContain('href="/docs/decisions/');
    for (const { name } of allPages())
      if (name.startsWith('decisions/')) expect(decisions).toContain(`href="/docs/${name}"`);
  });

  it('has no broken internal link, and loads nothing from another host', async () => {
    const pages = await Promise.all(
      allPages().map(async ({ name }) => ({ name, answer: await admin.get(`/docs/${name}`) })),
    );
    const anchors = new Map(pages.map(({ name, answer: response }) => [name, anchorsOf(response.text)]));
    const broken = pages.flatMap(({ name, answer: response }) =>
      [...response.text.matchAll(/href="(?:\/docs\/([^"#]+))?(?:#([^"]+))?"/g)]
        .filter(([, page, anchor]) => {
          const target = page?.endsWith('.md') ? page.slice(0, -3) : (page ?? name);
          const page_anchors = anchors.get(target);
          // The `try` page is not part of the library, and its anchors are operation names.
          if (target === 'try') return false;
          return page_anchors === undefined || (anchor !== undefined && !page_anchors.includes(anchor));
        })
        .map(([link]) => `${name}: ${link}`),
    );

    expect(pages.map(({ answer: response }) => response.status)).toEqual(pages.map(() => 200));
    expect(broken).toEqual([]);
    for (const { answer: response } of pages) {
      expect(response.text).not.toMatch(/<(?:img|link|iframe)|@import/);
      expect(response.text.match(/<script[^>]*>/g)).toEqual(['<script src="/docs/docs.js">']);
    }
  });

  it('has the section that each page of the dashboard links to', async () => {
    const navigation = new URL('../../dashboard/src/shell/navigation.ts', import.meta.url);
    const links = [...readFileSync(navigation, 'utf8').matchAll(/ docs: '([^']+)'/g)].map(([, link = '']) => link);

    expect(links.length).toBeGreaterThan(30);
    for (const link of links) {
      const [name, anchor] = link.split('#');
      const { status, text } = await admin.get(`/docs/${name}`);
      expect(status, link).toBe(200);
      if (anchor !== undefined) expect(anchorsOf(text), link).toContain(anchor);
    }
  });

  it('shows samples unchanged, and hides the markers that tests use', async () => {
    const { text } = await admin.get('/docs/sending');

    expect(text).toContain('<h1 id="sending">');
    const samples = text.replace(/<[^>]+>/g, '');
    expect(samples).toContain('import { Postrider } from');
    expect(samples).toContain('&lt;hello@sandbox.test&gt;');
    expect(text).not.toContain('sh run');
  });

  it('shows the URL of the instance in samples', async () => {
    const { text } = await admin.get('/docs/sending');

    expect(text.replace(/<[^>]+>/g, '')).toContain(`export POSTRIDER_URL=${PUBLIC_URL}`);
    expect(text).not.toContain('http://localhost:3000');
  });

  it('leads from each page to the one before, the next and its sections', async () => {
    const { text } = await admin.get('/docs/webhooks');

    expect(text).toMatch(/<small>Previous<\/small>PHP/);
    expect(text).toMatch(/<small>Next<\/small>Test/);
    expect(text.match(/<li><a href="#retries">Retries<\/a><\/li>/g)).toHaveLength(2);
  });

  it("can run every operation with the session's rights, using its own script", async () => {
    const page = await admin.get('/docs/try');
    const script = await admin.get('/docs/try.js');
    const overview = await admin.get('/docs/api');
    const names = new Set([...overview.text.matchAll(/href="\/docs\/(api\/[\w-]+)#/g)].map(([, name]) => name));
    const reference = await Promise.all([...names].map((name) => admin.get(`/docs/${name}`)));

    const offered = [...page.text.matchAll(/<option[^>]* value="([^"]+)"/g)].map(([, name]) => name);
    const linked = reference.flatMap(({ text }) =>
      [...text.matchAll(/href="\/docs\/try#([^"]+)"/g)].map(([, name = '']) => name),
    );
    expect(offered).toContain('POST /email/send');
    expect(linked.map(decodeURIComponent).sort()).toEqual([...offered].sort());
    for (const { headers } of [page, ...reference])
      expect(headers['content-security-policy']).toContain("script-src 'self';");
    expect(script.text).toContain('/trpc/session.token');
  });

  it('describes every operation in the API reference', async () => {
    const overview = await admin.get('/docs/api');
    const { text } = await admin.get('/docs/api/email');
    const objects = await admin.get('/docs/api/objects');

    expect(overview.text).toContain('href="/docs/api/email#post-emailsend"');
    expect(anchorsOf(text)).toContain('post-emailsend');
    expect(text).toContain('Requires the');
    expect(text).toContain('href="/docs/api/objects#sendrequest"');
    expect(anchorsOf(objects.text)).toContain('sendrequest');
    expect(text).toContain('href="/errors/domain_not_verified"');
    for (const language of ['sh', 'ts', 'python', 'go', 'php', 'json'])
      expect(text).toContain(`<figure data-language="${language}">`);
    // Descriptions are text: no addresses to write to, no tags, no objects.
    expect(text).toContain('Name &lt;a@b.c&gt;');
    expect(text).not.toMatch(/mailto:|\[object Object\]|<code><\/code>/);
  });

  it.each(['nowhere', '../package.json', 'decisions/9999-none', '__proto__'])('returns 404 for %s', async (name) => {
    const response = await admin.get(`/docs/${encodeURIComponent(name)}`);

    expect(response.status).toBe(404);
    expect(response.text).toContain('Page not found');
  });
});

describe('/docs/search', () => {
  it('finds the sections that contain the words, and lists heading matches first', async () => {
    const { text } = await admin.get('/docs/search?q=inline+images');

    const [, first] = /<ol>.*?<a href="([^"]+)"/s.exec(text) ?? [];
    expect(first).toBe('/docs/sending#attachments-and-inline-images');
  });

  it('ignores short and surplus words, and shows no table rules', async () => {
    const { text } = await admin.get(`/docs/search?q=${encodeURIComponent('how do I rotate the signing secret?')}`);

    expect(text).toContain('/docs/webhooks#');
    expect(text).not.toMatch(/<br>[^<]*---/);
  });

  it.each([
    ['idempotency', '/docs/sending#idempotency'],
    ['nginx', '/docs/growing'],
    ['DKIM key rotation', '/docs/domains'],
    ['react email', '/docs/templates'],
    ['templates', '/docs/templates'],
    ['email templates variables', '/docs/templates'],
    ['open tracking', '/docs/sending#open-and-click-tracking'],
    ['schedule email for later', '/docs/sending#scheduling'],
    ['webhook retry schedule', '/docs/webhooks#retries'],
    ['handle hard bounces', '/docs/operations#bounces-and-spam-complaints'],
    ['spam complaint feedback loop', '/docs/deliverability'],
    ['gmail bulk sender requirements', '/docs/deliverability'],
    ['parse incoming mail to webhook', '/docs/sending#receiving-email'],
    ['sandbox mode without really sending', '/docs/testing'],
    ['nodemailer transport', '/docs/submission'],
    ['leaked api key what to do', '/docs/production#6-create-an-api-key-per-program'],
    ['two factor login', '/docs/sign-in#two-factor-authentication'],
    ['warm up new ip', '/docs/deliverability'],
    ['invite teammate', '/docs/operations#team-members-and-roles'],
    ['mail stuck in queue', '/docs/sending#status-and-logs-why-an-email-is-delayed'],
    ['pagination cursor', '/docs/api#pagination'],
    ['migrate from sendgrid', '/docs/from-sendgrid'],
    ['alternatives', '/docs/comparison'],
    ['postrider vs postal', '/docs/comparison'],
    ['compare with resend', '/docs/comparison'],
    ['upgrade to new version', '/docs/self-hosting#upgrade-to-a-new-version'],
    ['list of error codes', '/docs/errors'],
    ['set up DMARC', '/docs/domains#spf-and-dmarc'],
    ['rotate dkim key', '/docs/domains'],
    ['nodemailer', '/docs/submission'],
    ['max recipients', '/docs/limits'],
    ['attachment size', '/docs/sending'],
    ['webhook signature', '/docs/webhooks'],
    ['kubernetes', '/docs/kubernetes'],
    ['restore backup', '/docs/backup'],
    ['webhok retries', '/docs/webhooks'],
  ])('leads from %j to the page about it', async (query, path) => {
    const { text } = await admin.get(`/docs/search?q=${encodeURIComponent(query)}`);

    const [, first = ''] = /<ol>.*?<a href="([^"]+)"/s.exec(text) ?? [];
    expect(first.startsWith(path), first).toBe(true);
  });

  it('suggests sections as JSON', async () => {
    const { status, text } = await admin.get('/docs/search.json?q=idempot');

    expect(status).toBe(200);
    const { data } = JSON.parse(text) as { data: { title: string; heading: string; path: string }[] };
    expect(data[0]).toEqual({ title: 'Sending', heading: 'Idempotency', path: '/docs/sending#idempotency' });
    expect(data.length).toBeLessThanOrEqual(8);
    expect(data.filter(({ path }) => path.startsWith('/docs/decisions/'))).toEqual([]);
  });

  it('shows the query as plain text, and reports when nothing is found', async () => {
    const { text } = await admin.get(`/docs/search?q=${encodeURIComponent('"><script>x</script>')}`);

    expect(text).not.toContain('<script>x');
    expect(text).toContain('No results.');
  });
});

describe('/docs/search under load', () => {
  const search = (from: string) => admin.get('/docs/search?q=webhooks', { 'x-forwarded-for': from });

  it('fairness N9: makes a network that searches too often wait a minute, without affecting others', async () => {
    await world.clock.freeze(new Date(world.clock.now() + 120_000));
    const statuses = await Promise.all(Array.from({ length: 241 }, async () => (await search('192.0.2.1')).status));
    const last = await search('192.0.2.1');

    expect(statuses.filter((status) => status === 200)).toHaveLength(240);
    expect(last.status).toBe(429);
    expect(last.headers['retry-after']).toBe(String(60 - (Math.floor(world.clock.now() / 1000) % 60)));
    expect((await search('192.0.2.2')).status).toBe(200);
    await world.clock.advance(60_000);
    expect((await search('192.0.2.1')).status).toBe(200);
  });

  it('fairness N9: reads only the first 200 characters of a query', async () => {
    const { text } = await admin.get(`/docs/search?q=${'%20'.repeat(200)}webhooks`);

    expect(text).toContain('Enter a search term.');
  });
});

describe('documentation for programs', () => {
  it('is available as Markdown for every page, and is listed in llms.txt', async () => {
    const { text } = await admin.get('/llms.txt');
    const paths = [...text.matchAll(/\]\([^)]*(\/docs\/[^)]+\.md)\)/g)].map(([, path]) => path ?? '');

    expect(paths).toHaveLength(allPages().length);
    const response = await admin.get('/docs/sending.md');
    expect(response.headers['content-type']).toBe('text/markdown; charset=utf-8');
    expect(response.text).toMatch(/^# Sending\n/);
    expect(response.text).not.toContain('```sh run');
    for (const path of paths) expect((await admin.get(path)).status).toBe(200);
  });

  it('is available as one text of every page in llms-full.txt', async () => {
    const { status, text } = await admin.get('/llms-full.txt');

    expect(status).toBe(200);
    for (const { title, name } of allPages())
      expect(text.includes(`# ${title}\n`), name).toBe(!name.startsWith('decisions/'));
  });
});
