import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type HouseRuleName, houseRules, type TreeFile } from './house-rules.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const notOurs = new Set(['node_modules', '.git', '.postrider', '.turbo', 'dist', 'coverage']);
const isText = (name: string) => !/\.(?:png|jpe?g|gif|ico|webp|avif|woff2?|ttf|gz|zip|pdf|tsbuildinfo)$/.test(name);

function readTree(folder: string): TreeFile[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry): TreeFile[] => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (notOurs.has(entry.name)) return [];
    if (entry.isDirectory()) return readTree(path);
    return entry.isFile() && isText(entry.name) ? [{ path, text: readFileSync(join(root, path), 'utf8') }] : [];
  });
}

const lock = (packages: object) => ({ path: 'package-lock.json', text: JSON.stringify({ packages }) });
const code = (text: string, path = 'packages/core/src/send.ts') => ({ path, text });
const manifest = (fields: object, path = 'package.json') => ({ path, text: JSON.stringify(fields) });
// Put together here, because this file is under the rule as well.
const host = ['registry', 'npmjs', 'org'].join('.');

/** For every rule: places that break it, and their neighbours that do not. */
const planted: Record<HouseRuleName, { red: TreeFile[][]; green: TreeFile[][] }> = {
  'SQL stands in stores, migrations and the packages made for it': {
    red: [
      [code('await sql`select 1`')],
      [code('await tx<{ n: number }[]>`values (1)`')],
      [code("run('delete from messages')")],
      [code('const text = `\n  select id, at\n  from messages`')],
      [code("run('INSERT INTO messages values (1)')")],
      [code('await sql.unsafe(text)', 'apps/rest/src/handle.ts')],
    ],
    green: [
      [code('await sql`select 1`', 'packages/core/src/messages/store.ts')],
      [code('await sql`select 1`', 'packages/core/src/messages/accept-store.ts')],
      [code('await sql`select 1`', 'packages/queue/src/queue.ts')],
      [code('await sql`select 1`', 'packages/core/src/messages/store.test.ts')],
      [code("show('Select a domain from the list'); // insert into nothing")],
    ],
  },
  'no query is cancelled, or read by a cursor of the driver': {
    red: [
      [code('for await (const rows of sql`select 1`.cursor(10)) use(rows)', 'bench/read.ts')],
      [code('await query.cursor(10, use)')],
      [code('sql`select 1`.cancel()')],
      [code('sql<Row[]>`select 1`\n  .simple()\n  .cancel()', 'packages/core/src/store.test.ts')],
      [code('ctx.sql.unsafe(text, [(a)]).cancel()')],
      [code('const rows = ctx.sql<Row[]>`select 1`;\nsignal.onabort = () => rows.cancel();')],
      [code('const rows: PendingQuery<Row[]> = tx`select 1`; rows.cancel()')],
    ],
    green: [
      [code('resolver.cancel(); await answer.body?.cancel(); await cursor(10); row.cursor')],
      [code('const rows = await sql`select 1`; const job = start(`a`, rows); job.cancel()')],
      [code('const rows = sql`select 1`; jobs.rows.cancel(); f(sql.unsafe(text), job(a).cancel())')],
      [code("const text = 'sql`select 1`.cancel() and query.cursor(10)'; // rows.cancel()")],
      [code('await cancel(sql`select 1`); start(`a`).cancel()')],
    ],
  },
  'time comes from a clock': {
    red: [[code('const at = Date.now();')], [code('const at = new Date();')], [code('const at = new Date;')]],
    green: [
      [code('const at = new Date(row.at); const text = "Date.now()"; // new Date()')],
      [code('export const now = () => Date.now();', 'packages/core/src/clock.ts')],
      [code('Date.now()', 'packages/core/src/send.test.ts')],
    ],
  },
  'only a main reads the environment': {
    red: [[code('process.env.PORT')], [code("import { env } from 'node:process';")]],
    green: [[code('process.env', 'apps/server/src/main.ts')], [code("'process.env'")]],
  },
  'no test is mocked, skipped or run alone': {
    red: [
      [code("vi.mock('./store.ts')", 'a.test.ts')],
      [code("it.only('a', run)", 'a.test.ts')],
      [code("describe.each(rows).skip('a', run)".replace('.each(rows)', ''), 'a.test.ts')],
      [code("test.todo('a')", 'a.test.ts')],
    ],
    green: [[code("it('uses it.only and vi.mock', run); rows.only(it)", 'a.test.ts')]],
  },
  'nothing is left as a note to finish later': {
    red: [[code(`// ${'TO'}${'DO'}: later`)], [code(`-- ${'FIX'}${'ME'}`, 'packages/db/migrations/0001_a.sql')]],
    green: [[code("const list = 'TODO';")]],
  },
  'the type checker is never silenced': {
    red: [
      [code(`// @${'ts'}-expect-error it is fine`)],
      [code('function f(a: any) {}')],
      [code('f(a as any)')],
      [code('const a: Record<string, any> = {};')],
      [code('const a: any[] = [];')],
    ],
    green: [[code('const a = { any: 1, b: any(c) }; // any')], [code("it('takes any: number', f)")]],
  },
  'files are named for what they know or do': {
    red: [
      [code('', 'packages/core/src/utils.ts')],
      [code('', 'packages/core/src/mail-service.ts')],
      [code('', 'packages/core/src/sendMessage.ts')],
      [code('', 'packages/db/migrations/first.sql')],
    ],
    green: [[code('', 'packages/core/src/send-message.test.ts'), code('', 'packages/db/migrations/0001_a_b.sql')]],
  },
  'index files only export': {
    red: [
      [code('export const a = 1;', 'packages/core/src/index.ts')],
      [code("export { a } from './a.ts';\nrun();", 'packages/core/src/index.ts')],
      [code("import './a.ts';", 'packages/core/src/index.ts')],
    ],
    green: [
      [
        code(
          "// The door.\nexport type { A } from './a.ts';\nexport {\n  a,\n  type B,\n} from './b.ts';\nexport * from './c.ts';\n",
          'packages/core/src/index.ts',
        ),
      ],
    ],
  },
  'every version is exact': {
    red: [
      [manifest({ dependencies: { zod: '^4.6.7' } })],
      [manifest({ devDependencies: { zod: '*' } }, 'apps/rest/package.json')],
      [manifest({ overrides: { a: { b: '1.x' } } })],
    ],
    green: [
      [
        manifest({
          dependencies: { zod: '4.6.7' },
          optionalDependencies: { pg: '18.4.0-beta.17' },
          overrides: { a: 'npm:b@1.0.0', c: '$zod' },
        }),
      ],
    ],
  },
  'every import is declared by its workspace': {
    red: [
      [manifest({}), manifest({ dependencies: {} }, 'packages/core/package.json'), code("import { z } from 'zod';")],
      [
        manifest({ devDependencies: { vitest: '5.1.0' } }),
        manifest({}, 'packages/core/package.json'),
        code("import 'vitest';"),
      ],
      [
        manifest({}),
        manifest({}, 'packages/core/package.json'),
        code("const a = await import('@postrider/db/embedded');"),
      ],
    ],
    green: [
      [
        manifest({ devDependencies: { vitest: '5.1.0' } }),
        manifest({ name: '@postrider/core', dependencies: { zod: '4.6.7' } }, 'packages/core/package.json'),
        code("import { z } from 'zod/v4';\nimport fs from 'node:fs';\nimport './a.ts';"),
        code("import 'vitest'; import '@postrider/testing'; const a = \"import 'b'\";", 'packages/core/src/a.test.ts'),
      ],
    ],
  },
  'the lockfile names no download address': {
    red: [[lock({ 'node_modules/a': { version: '1.0.0', resolved: 'https://host.test/a' } })]],
    green: [[lock({ 'node_modules/@postrider/core': { resolved: 'packages/core', link: true } })]],
  },
  'the lockfile has every optional package': {
    red: [
      [
        lock({
          'node_modules/a': { optionalDependencies: { 'a-linux': '1.0.0', 'a-darwin': '1.0.0' } },
          'node_modules/a-linux': {},
        }),
      ],
    ],
    green: [
      [lock({ 'node_modules/a': { optionalDependencies: { '@b/linux': '1.0.0' } }, 'node_modules/@b/linux': {} })],
    ],
  },
  'no dependency is below its advisory floor': {
    red: [
      [lock({ 'node_modules/nodemailer': { version: '10.4.9' } })],
      [lock({ 'node_modules/mailparser/node_modules/nodemailer': { version: '10.0.12' } })],
      [lock({ 'node_modules/mailauth/node_modules/nodemailer': { version: '9.9.9' } })],
      [lock({ 'node_modules/mx-connect/node_modules/nodemailer': { version: '10.4.0' } })],
      [lock({ 'node_modules/hono': { version: '4.13.5-rc.1' } })],
      [lock({ 'node_modules/a/node_modules/ip': { version: '99.0.0' } })],
    ],
    green: [
      [
        lock({
          'node_modules/nodemailer': { version: '10.10.0' },
          'node_modules/mx-connect/node_modules/nodemailer': { version: '9.0.3' },
          'node_modules/ipaddr.js': { version: '1.0.0' },
          'node_modules/hono': { version: '4.13.5' },
        }),
      ],
    ],
  },
  'no file names a package host': {
    red: [
      [{ path: 'README.md', text: `see https://${host}/` }],
      [{ path: 'Dockerfile', text: `ADD https://host.test/a/-/a-1.0.0.${'tgz'} /` }],
      [{ path: '.npmrc', text: 'registry=http://host.test/' }],
    ],
    green: [[{ path: '.npmrc', text: 'omit-lockfile-registry-resolved=true' }]],
  },
  'the guides name paths that exist': {
    red: [
      [{ path: 'README.md', text: 'see `apps/rest/src/gone.ts`' }, code('')],
      [{ path: 'CONTRIBUTING.md', text: '| test | `packages/core/src/gone` |' }, code('')],
      [{ path: 'docs/architecture.md', text: 'run `node scripts/gone.ts`' }, code('')],
      [{ path: 'docs/architecture.md', text: '`messages/send.ts`, which is in another folder' }, code('')],
    ],
    green: [
      [
        {
          path: 'docs/architecture.md',
          text:
            '`packages/core/src/send.ts`, `core/src/send.ts`, `send.ts`, `packages/core`, `packages/core/`, ' +
            '`/v1/usage`, `docs/decisions/NNNN-title.md`\n```\n`apps/gone.ts`\n```\n',
        },
        code(''),
        { path: 'CHANGELOG.md', text: '`apps/gone.ts`' },
      ],
    ],
  },
};

describe('the tree', () => {
  const tree = readTree('');
  it.each(Object.entries(houseRules))('%s', (_name, rule) => {
    expect(rule(tree)).toEqual([]);
  });
});

describe('a rule turns red where it is broken, and only there', () => {
  it.each(Object.entries(houseRules))('%s', (name, rule) => {
    // Object.entries forgets that the names are the keys of houseRules.
    const { red, green } = planted[name as HouseRuleName];

    for (const files of red) expect(rule(files), JSON.stringify(files)).not.toEqual([]);
    for (const files of green) expect(rule(files)).toEqual([]);
  });

  it('names the file and the line', () => {
    expect(houseRules['time comes from a clock']([code('\n\nDate.now();')])).toEqual([
      'packages/core/src/send.ts:3 Date.now: ask a Clock, or the database for clock_now()',
    ]);
  });
});
