import { describe, expect, it } from 'vitest';
import { GRAPH_PAGE, withGraphs } from './house-rules/architecture-graph.ts';
import { readTree, type TreeFile } from './house-rules/tree.ts';
import { type HouseRuleName, houseRules } from './house-rules.ts';

const lock = (packages: object) => ({ path: 'package-lock.json', text: JSON.stringify({ packages }) });
const code = (text: string, path = 'packages/core/src/send.ts') => ({ path, text });
const manifest = (fields: object, path = 'package.json') => ({ path, text: JSON.stringify(fields) });
const notices = {
  path: 'THIRD-PARTY-NOTICES',
  text: 'In the service\n\nMIT\n  a, @c/*\n\nIn the built dashboard\n\nISC\n  f\n\nNotes\n',
};
const noticed = {
  'node_modules/a': { license: 'MIT' },
  'node_modules/@c/d': { license: '(MIT)' },
  'node_modules/f': { license: 'ISC', dev: true },
};
const advisories = {
  path: 'advisories.json',
  text: JSON.stringify([
    {
      package: 'nodemailer',
      floor: '10.5.0',
      advisory: 'a weakness',
      accepted: { under: 'node_modules/mx-connect/', other_major_than: 10, why: 'a reason' },
    },
    { package: 'hono', floor: '4.13.5', advisory: 'a weakness' },
    { package: 'ip', floor: null, advisory: 'a weakness' },
  ]),
};
const longFunction = (lines: number) => `export function f() {\n${'  run();\n'.repeat(lines - 2)}}\n`;
const sourceFiles = (count: number, folder = 'packages/core/src/mail') =>
  Array.from({ length: count }, (_, n) => code('', `${folder}/file-${n}.ts`));
const core = manifest(
  { name: '@postrider/core', exports: { '.': './src/index.ts', './*': './src/*/index.ts' } },
  'packages/core/package.json',
);
const sharesHead =
  '| resource | bound | divided | beyond it | metric | test |\n| --- | --- | --- | --- | --- | --- |\n';
const sharesPage = (...rows: string[]) => ({ path: 'docs/security.md', text: `${sharesHead}${rows.join('\n')}\n\n` });
const sharesCatalogue = {
  path: 'packages/core/src/process/metric-catalogue.ts',
  text: "export const shareLines = ['bodies'] as const;\nexport type SharePlaces = 'clients';\n",
};
const sharesTest = { path: 'packages/core/src/shares/fair-line.test.ts', text: '' };
const bodiesRow = '| bodies | 1 | by workspace | 429 | line `bodies` | `packages/core/src/shares/fair-line.test.ts` |';
const clientsRow = '| clients | 1 | by network | 421 | line `clients` | `packages/core/src/shares/fair-line.test.ts` |';

const blankPage = {
  path: GRAPH_PAGE,
  text: ['packages', 'core']
    .map((name) => `<!-- ${name}: written by \`node scripts/draw-architecture.ts\` -->\n<!-- ${name} end -->\n`)
    .join(''),
};
const twoDomains = [
  code("import '../events/index.ts';", 'packages/core/src/holds/index.ts'),
  code('', 'packages/core/src/events/index.ts'),
];
const drawnPage = { ...blankPage, text: withGraphs(blankPage.text, [core, ...twoDomains]) };
// The words are concatenated, because the rules apply to this file too.
const word = ['who', 'ever'].join('');
const host = ['registry', 'npmjs', 'org'].join('.');
const ids = ['promise', 'newcomer'].map((kind) => [kind, 'N7'].join(' '));

/** Sources that break each rule, and similar sources that do not. */
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
  'the tables of pg-boss are named in packages/queue': {
    red: [
      [code('await sql`select from pgboss.job`', 'packages/core/src/holds/store.ts')],
      [code("const table = 'pgboss.queue';", 'apps/server/src/start.ts')],
    ],
    green: [
      [code('await sql`select from pgboss.job`', 'packages/queue/src/job-rows.ts')],
      [code('await sql`select from pgboss.job`', 'packages/core/src/holds/store.test.ts')],
      [code('await sql`select from pgboss.job`', 'bench/seed.ts')],
      [code('// pgboss.job has one partition for each queue', 'packages/core/src/holds/store.ts')],
    ],
  },
  'the planner is steered in planner.ts': {
    red: [
      [code('await sql`select from (select from t offset 0) x`', 'packages/core/src/holds/store.ts')],
      [code('await sql`select from t where id collate "POSIX" > $1`', 'packages/queue/src/job-views.ts')],
      [code("await sql`set local enable_hashjoin = 'on'`", 'packages/core/src/holds/store.ts')],
    ],
    green: [
      [code('await sql`select from t offset $' + '{skipped}`; // offset 0', 'packages/core/src/holds/store.ts')],
      [code("pieces.unsafe('offset 0')", 'packages/db/src/planner.ts')],
    ],
  },
  'time comes from a clock': {
    red: [[code('const at = Date.now();')], [code('const at = new Date();')], [code('const at = new Date;')]],
    green: [
      [code('const at = new Date(row.at); const text = "Date.now()"; // new Date()')],
      [code('export const now = () => Date.now();', 'packages/core/src/clock.ts')],
      [code('Date.now()', 'packages/core/src/send.test.ts')],
      [code('Date.now()', 'examples/shop/server.ts')],
    ],
  },
  'only a main reads the environment': {
    red: [[code('process.env.PORT')], [code("import { env } from 'node:process';")]],
    green: [
      [code('process.env', 'apps/server/src/main.ts')],
      [code("'process.env'")],
      [code('process.env', 'examples/shop/server.ts')],
    ],
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
  'a test title begins with its subject': {
    red: [
      [code("it('that is revoked is rejected', run);", 'packages/core/src/keys.test.ts')],
      [code("it.runIf(fast)('of a lease ends', run);", 'packages/core/src/keys.test.ts')],
      [code("it.each([1, 2])(\n  'of %i is rejected',\n  run,\n);", 'apps/rest/test/keys.test.ts')],
      [code('it.each`a`(`where it is full`, run);', 'apps/rest/test/keys.test.ts')],
      [code(`test('${ids[0]}: nor is a message', run);`, 'packages/core/src/keys.test.ts')],
      [code(`it('${ids.join(', ')}: with a wrong key it fails', run);`, 'packages/core/src/keys.test.ts')],
    ],
    green: [
      [code("it('a key that is revoked is rejected', run);", 'packages/core/src/keys.test.ts')],
      [code("it('rejects a key of another workspace', run);", 'packages/core/src/keys.test.ts')],
      [code(`it('${ids[0]}: a message ends', run);`, 'packages/core/src/keys.test.ts')],
      [
        code(
          "it('information is shown', run); split('of them'); // it('of a lease', run)",
          'apps/rest/test/keys.test.ts',
        ),
      ],
      [code('const text = "it(\'of a lease\', run)";', 'packages/core/src/keys.test.ts')],
      [code("it('that is revoked is rejected', run);")],
    ],
  },
  'the dashboard polls only what its list names': {
    red: [
      [code('useQuery(trpc.holds.list.queryOptions({}, { refetchInterval: 5000 }))', 'apps/dashboard/src/pages/a.tsx')],
      [code('setInterval(load, 5000)', 'apps/dashboard/src/shell/a.ts')],
    ],
    green: [
      [code('poll(query, { refetchInterval })', 'apps/dashboard/src/api/polled.ts')],
      [code('setInterval(load, 5000)', 'apps/worker/src/a.ts')],
    ],
  },
  'every tRPC procedure has a caller': {
    red: [[code('export const holds = router({ list: query(listHolds) });', 'apps/admin/src/trpc/holds.ts')]],
    green: [
      [
        code('export const holds = router({ list: query(listHolds) });', 'apps/admin/src/trpc/holds.ts'),
        code('useKeyset(trpc.holds.list, {})', 'apps/dashboard/src/pages/holds.tsx'),
      ],
    ],
  },
  'a dialog of the dashboard is opened by its URL': {
    red: [
      [
        code(
          'const [removed, setRemoved] = useState<Row>();\n{removed && <FormDialog title="Remove" onClose={() => setRemoved(undefined)} />}',
          'apps/dashboard/src/pages/a.tsx',
        ),
      ],
      [
        code(
          "const [asked, ask] = useState('none');\n{(asked === 'cancel' || asked === 'resend') && (\n<Dialog onClose={close}>",
          'apps/dashboard/src/pages/a.tsx',
        ),
      ],
    ],
    green: [
      [
        code(
          "const { open } = useSearch();\nconst [role, setRole] = useState('');\n{open === 'new' && <FormDialog onClose={close} />}\n{role && <p>{role}</p>}",
          'apps/dashboard/src/pages/a.tsx',
        ),
      ],
    ],
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
      [
        manifest({ devDependencies: { vitest: '5.1.0' } }),
        manifest({}, 'examples/shop/package.json'),
        code("import 'vitest';", 'examples/shop/server.test.ts'),
      ],
    ],
    green: [
      [
        manifest({}),
        manifest({ dependencies: { next: '16.4.6' } }, 'examples/shop/package.json'),
        code("import 'next';", 'examples/shop/app/page.tsx'),
      ],
      [
        manifest({ devDependencies: { vitest: '5.1.0' } }),
        manifest({ name: '@postrider/core', dependencies: { zod: '4.6.7' } }, 'packages/core/package.json'),
        code("import { z } from 'zod/v4';\nimport fs from 'node:fs';\nimport './a.ts';"),
        code("import 'vitest'; import '@postrider/testing'; const a = \"import 'b'\";", 'packages/core/src/a.test.ts'),
      ],
    ],
  },
  'every dependency of a workspace is imported': {
    red: [
      [manifest({ dependencies: { zod: '4.6.7' } }, 'packages/core/package.json'), code('')],
      [
        manifest({ dependencies: { zod: '4.6.7' } }, 'packages/core/package.json'),
        code("import { z } from 'zod';", 'packages/core/src/send.test.ts'),
      ],
      [manifest({ devDependencies: { zod: '4.6.7' } }, 'apps/rest/package.json'), code("import { z } from 'zod';")],
    ],
    green: [
      [
        manifest({ devDependencies: { turbo: '2.11.9' } }),
        manifest(
          { dependencies: { zod: '4.6.7', 'pino-pretty': '13.2.0' }, devDependencies: { mailauth: '7.1.0' } },
          'packages/core/package.json',
        ),
        code("import { z } from 'zod/v4';\nlogTo({ target: 'pino-pretty' });"),
        code("import 'mailauth';", 'packages/core/src/send.test.ts'),
      ],
    ],
  },
  'workspaces depend on each other in one direction': {
    red: [
      ['apps/rest', 'apps/admin'],
      ['packages/dispatch', 'apps/worker'],
      ['packages/core', 'apps/rest'],
      ['packages/core', 'packages/dispatch'],
      ['packages/mail', 'packages/core'],
      ['packages/mail', 'packages/db'],
      ['packages/net', 'packages/mail'],
      ['packages/queue', 'packages/core'],
      ['packages/db', 'packages/queue'],
      ['apps/worker', 'packages/db'],
      ['apps/rest', 'packages/mail'],
      ['apps/admin', 'packages/queue'],
      ['apps/inbound', 'packages/queue'],
      ['packages/cli', 'packages/mail'],
      ['apps/server', 'packages/dispatch'],
    ].flatMap(([from, target]) =>
      ['dependencies', 'devDependencies'].map((kind) => [
        manifest({ name: 'from', [kind]: { into: '0.1.0' } }, `${from}/package.json`),
        manifest({ name: 'into' }, `${target}/package.json`),
      ]),
    ),
    green: [
      [
        manifest({ name: 'server', dependencies: { rest: '0.1.0', db: '0.1.0' } }, 'apps/server/package.json'),
        manifest({ name: 'rest', dependencies: { core: '0.1.0', zod: '4.6.7' } }, 'apps/rest/package.json'),
        manifest({ name: 'core', dependencies: { db: '0.1.0', mail: '0.1.0' } }, 'packages/core/package.json'),
        manifest({ name: 'mail', dependencies: { net: '0.1.0' } }, 'packages/mail/package.json'),
        manifest({ name: 'net' }, 'packages/net/package.json'),
        manifest({ name: 'db' }, 'packages/db/package.json'),
      ],
    ],
  },
  'only the owner of a driver imports it': {
    red: [
      [code("import { PgBoss } from 'pg-boss';")],
      [code("import postgres from 'postgres';", 'packages/queue/src/queue.test.ts')],
      [code("const pg = await import('pg/lib/client');", 'apps/server/src/main.ts')],
      [code("import { runner } from 'node-pg-migrate';", 'packages/cli/src/main.ts')],
    ],
    green: [
      [
        code("import { PgBoss } from 'pg-boss';", 'packages/queue/src/queue.ts'),
        code("import postgres from 'postgres'; import pg from 'pg';", 'packages/db/src/connect.ts'),
        code("import { PgBoss } from 'pg-boss';", 'bench/queue.ts'),
        code("import { a } from 'postgres-date'; import b from './postgres.ts';"),
      ],
    ],
  },
  'core imports no HTTP': {
    red: [
      [code("import type { IncomingMessage } from 'node:http';")],
      [code("import { Hono } from 'hono/tiny';")],
      [code("import { serve } from '@hono/node-server';")],
    ],
    green: [
      [code("import { createServer } from 'node:http';", 'apps/rest/src/handle.ts'), code("import './http.ts';")],
    ],
  },
  'a workspace is imported through its exports': {
    red: [
      [core, code(''), code("import { a } from '@postrider/core/src/send.ts';", 'apps/rest/src/a.ts')],
      [core, code(''), code("import { a } from '@postrider/core/send';", 'apps/rest/src/a.ts')],
      [core, code(''), code("import type { A } from '../../../packages/core/src/send.ts';", 'apps/rest/src/a.ts')],
      [core, code(''), code("import { a } from '../packages/core/src/send.ts';", 'bench/a.ts')],
    ],
    green: [
      [
        core,
        code('', 'packages/core/src/index.ts'),
        code('', 'packages/core/src/events/index.ts'),
        code("import '@postrider/core'; import '@postrider/core/events';", 'apps/rest/src/a.ts'),
        code("import '../src/a.ts'; import '../../../scripts/b.ts';", 'apps/rest/test/a.test.ts'),
        code("await import('../packages/core/src/index.ts');", 'scripts/start.mjs'),
      ],
    ],
  },
  'a domain of core is imported through its index': {
    red: [
      [
        code('', 'packages/core/src/events/index.ts'),
        code('', 'packages/core/src/events/store.ts'),
        code("import type { A } from '../events/store.ts';", 'packages/core/src/holds/hold.ts'),
      ],
      [
        code('', 'packages/core/src/events/index.ts'),
        code('', 'packages/core/src/events/store.ts'),
        code("import { a } from './events/store.ts';"),
      ],
    ],
    green: [
      [
        code("export { a } from './store.ts';", 'packages/core/src/events/index.ts'),
        code("import '../send.ts';", 'packages/core/src/events/store.ts'),
        code("import { a } from '../events/index.ts'; import '../send.ts';", 'packages/core/src/holds/hold.ts'),
        code("import { a } from '../events/store.ts';", 'packages/core/src/holds/hold.test.ts'),
        code("import { a } from '../events/log/read.ts';", 'packages/core/src/events/log/write.ts'),
        code('', 'packages/core/src/events/log/read.ts'),
      ],
    ],
  },
  'no import cycle, types included': {
    red: [
      [code("import './b.ts';", 'bench/a.ts'), code("import type { A } from './a.ts';", 'bench/b.ts')],
      [
        code("export type { B } from './b.ts';", 'bench/a.ts'),
        code("type C = import('./c.ts').C;", 'bench/b.ts'),
        code("await import('./a.ts');", 'bench/c.ts'),
      ],
      [
        core,
        code("export { a } from './send.ts';", 'packages/core/src/index.ts'),
        code("import type { A } from '@postrider/core';"),
      ],
    ],
    green: [
      [
        code("import './b.ts'; import './c.ts';", 'bench/a.ts'),
        code("import './c.ts';", 'bench/b.ts'),
        code("// import './a.ts';\nimport './c.ts';", 'bench/c.ts'),
      ],
    ],
  },
  'no function is longer than 120 lines': {
    red: [
      [code(longFunction(121))],
      [code(`export const f = async (a: number): Promise<void> => {\n${'  run();\n'.repeat(119)}};\n`)],
      [code(`class A {\n  run() {\n${'    run();\n'.repeat(119)}  }\n}\n`, 'apps/worker/src/pump.ts')],
    ],
    green: [
      [
        code(longFunction(120)),
        code(longFunction(60).repeat(3), 'packages/core/src/three.ts'),
        code(longFunction(121), 'packages/core/src/send.test.ts'),
        code(longFunction(121), 'bench/send.ts'),
        code(`const a = [\n${'  1,\n'.repeat(200)}];\n`, 'packages/core/src/table.ts'),
      ],
    ],
  },
  'no folder holds more than 25 source files': {
    red: [sourceFiles(26)],
    green: [
      [
        ...sourceFiles(25),
        ...sourceFiles(25, 'packages/core/src/mail/parts'),
        ...sourceFiles(26, 'apps/rest/test'),
        code('', 'packages/core/src/mail/file-0.test.ts'),
        { path: 'packages/core/src/mail/schema.sql', text: '' },
      ],
    ],
  },
  'variables and types are named by nouns': {
    red: [
      [code('const found = rows.find(isOpen);')],
      [code('let asked = 0;', 'scripts/run.mjs')],
      [code('const { wanted } = options;')],
      [code('const { name: told, ...rest } = options;')],
      [code('for (const [taken] of pairs) use(taken);')],
      [code('rows.map((given = 1) => given + 1);', 'packages/core/src/send.test.ts')],
      [code('class Line {\n  end(seen: number) {}\n}')],
      [code('interface Asked {\n  readonly id: string;\n}')],
      [code('type Found = { readonly id: string };')],
    ],
    green: [
      [
        code('const known = row.found; const sent = { asked: 1, [told]: wanted(known) };'),
        code('// const found = 1;\nconst rows = "const found = 1";', 'packages/core/src/a.ts'),
      ],
    ],
  },
  'bounds are named MAX_ and MIN_, defaults DEFAULT_': {
    red: [[code(`const ${'MO'}ST_ROWS = 10;`)], [code(`const ${'SEL'}DOM_MS = 10;`, 'bench/run.ts')]],
    green: [[code('const MAX_ROWS = 10; const ALMOST_ROWS = 9; // MO' + 'ST_ROWS')]],
  },
  'prose uses plain words': {
    red: [
      [code(`// For ${word} reads this.`)],
      [code(`/* ${word.toUpperCase()} reads this */`, 'scripts/run.mjs')],
      [code(`throw new Error('${word} reads this');`)],
      [code(`it(\`tells ${word}\`, run);`, 'packages/core/src/send.test.ts')],
      [{ path: 'packages/db/migrations/0001_a.sql', text: `select 1; -- ${word}\n` }],
      [{ path: 'docs/operations.md', text: `Ask ${word}'s there.` }],
      [{ path: 'README.md', text: `The ${['tw', 'ins'].join('')} are ${['men', 'ded'].join('')}.` }],
    ],
    green: [
      [
        code(`// The account \`${word}\`, ${word}@acme.test and ${word}-list.ts; recommend, amended`),
        code(`const ${word} = '${word}'; send('to ${word}@acme.test', { ${word} });`, 'packages/core/src/a.ts'),
        { path: 'packages/db/migrations/0001_a.sql', text: `select ${word};` },
        { path: 'docs/operations.md', text: `Run \`su ${word}\`.\n\`\`\`\nsu ${word}\n\`\`\`\n` },
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
  'the notices name the locked packages and their licenses': {
    red: [
      [notices, lock({ 'node_modules/a': { license: 'MIT' }, 'node_modules/b': { license: 'ISC', dev: true } })],
      [notices, lock({ 'node_modules/a': { license: 'ISC' }, 'node_modules/@c/d': { license: 'MIT' } })],
      [notices, lock({ 'node_modules/a': { license: 'MIT', dev: true }, 'node_modules/@c/d': { license: 'MIT' } })],
      [notices, lock({ ...noticed, 'node_modules/a/node_modules/e': { license: 'MIT' } })],
    ],
    green: [[notices, lock({ ...noticed, 'packages/core': {}, 'node_modules/@postrider/core': { link: true } })]],
  },
  'no dependency is below its advisory floor': {
    red: [
      [advisories, lock({ 'node_modules/nodemailer': { version: '10.4.9' } })],
      [advisories, lock({ 'node_modules/mailparser/node_modules/nodemailer': { version: '10.0.12' } })],
      [advisories, lock({ 'node_modules/mailauth/node_modules/nodemailer': { version: '9.9.9' } })],
      [advisories, lock({ 'node_modules/mx-connect/node_modules/nodemailer': { version: '10.4.0' } })],
      [advisories, lock({ 'node_modules/hono': { version: '4.13.5-rc.1' } })],
      [advisories, lock({ 'node_modules/a/node_modules/ip': { version: '99.0.0' } })],
    ],
    green: [
      [
        advisories,
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
  'comments use the words of the trade': {
    red: [
      [code(`// A ${'ma'}il that waits.`)],
      [code(`/** Sends the ${'mai'}ls. */`, 'bench/run.ts')],
      [code(`// The job ends by ${'its'}elf.`)],
      [code(`// All are sent at ${'on'}ce.`, 'packages/core/src/send.test.ts')],
      [code(`/* No one is ${'to'}ld. */`)],
    ],
    green: [[code("// A mail server queues messages; `a mail` is code.\nconst text = 'all at once';")]],
  },
  'the documentation and the interfaces say email': {
    red: [
      [{ path: 'README.md', text: 'It sends a mail.' }],
      [{ path: 'docs/sending.md', text: 'Most mails arrive. Each mail has an id.' }],
      [{ path: 'apps/dashboard/src/pages/emails/strings.ts', text: "export const words = { none: 'Send a mail' };" }],
      [{ path: 'packages/cli/src/commands/send.ts', text: "print('Two mails');" }],
    ],
    green: [
      [
        {
          path: 'apps/dashboard/src/pages/emails/list.ts',
          text: "const mails = 1; // Two mails.\nconst word = 'Email';",
        },
        { path: 'packages/cli/src/commands/send.test.ts', text: "it('sends two mails', () => {});" },
        { path: 'packages/core/src/accept/accept.ts', text: "const key = 'mails';" },
        { path: 'docs/sending.md', text: 'A mail server takes an email, `a mail`.\n```text\nmails\n```\n' },
        { path: 'docs/decisions/0001-a.md', text: 'It sends mails.' },
        { path: 'CHANGELOG.md', text: 'It sends mails.' },
      ],
    ],
  },
  'sentences of the interfaces begin with a noun or a verb': {
    red: [
      [
        {
          path: 'apps/dashboard/src/pages/holds/strings.ts',
          text: "const words = { about: 'What is held goes on.' };",
        },
      ],
      [{ path: 'packages/cli/src/send.ts', text: "print('Done. What is left is sent', 1);" }],
    ],
    green: [
      [
        { path: 'apps/dashboard/src/pages/holds/strings.ts', text: "const words = { about: 'What is held?' };" },
        { path: 'packages/core/src/holds/hold.ts', text: "const about = 'What is held goes on.';" },
      ],
    ],
  },
  'the documentation uses noun compounds': {
    red: [
      [{ path: 'docs/sending.md', text: 'The limits of the queues of a workspace are those of its plan. '.repeat(20) }],
    ],
    green: [
      [{ path: 'docs/sending.md', text: `${'Queue limits follow the plan that you chose. '.repeat(30)}One of them.` }],
    ],
  },
  'every shared resource has a row with its test': {
    red: [
      [sharesPage(bodiesRow), sharesCatalogue, sharesTest],
      [sharesPage(bodiesRow, bodiesRow, clientsRow), sharesCatalogue, sharesTest],
      [sharesPage(bodiesRow, clientsRow), sharesCatalogue],
      [sharesPage(bodiesRow, clientsRow.replace('line `clients`', ' ')), sharesCatalogue, sharesTest],
      [sharesPage(bodiesRow, clientsRow), sharesCatalogue, sharesTest, code('new FairLine(name, bounds, metrics)')],
    ],
    green: [
      [sharesPage(bodiesRow, clientsRow), sharesCatalogue, sharesTest, code("new FairLine('bodies', bounds, metrics)")],
    ],
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
  'the page of packages draws the imports as they are': {
    red: [
      [blankPage, core, code('')],
      [drawnPage, core, ...twoDomains, code("import { a } from './holds/index.ts';")],
      [drawnPage, core, ...twoDomains, code("import '../../holds/index.ts';", 'packages/core/src/events/log/read.ts')],
      [
        drawnPage,
        core,
        ...twoDomains,
        manifest({ name: '@postrider/rest' }, 'apps/rest/package.json'),
        code('', 'apps/rest/src/a.ts'),
      ],
    ],
    green: [
      [drawnPage, core, ...twoDomains],
      [drawnPage, core, ...twoDomains, code("import '../holds/index.ts';", 'packages/core/src/events/a.test.ts')],
    ],
  },
};

describe('the source tree', () => {
  const tree = readTree();
  it.each(Object.entries(houseRules))('%s', (_name, rule) => {
    expect(rule(tree)).toEqual([]);
  });
});

describe('a house rule', () => {
  it.each(Object.entries(houseRules))('fails only for a violation: %s', (name, rule) => {
    // The cast is safe because the names are the keys of houseRules, which Object.entries loses.
    const { red, green } = planted[name as HouseRuleName];

    for (const files of red) expect(rule(files), JSON.stringify(files)).not.toEqual([]);
    for (const files of green) expect(rule(files)).toEqual([]);
  });

  it('reports the file and the line of a violation', () => {
    expect(houseRules['time comes from a clock']([code('\n\nDate.now();')])).toEqual([
      'packages/core/src/send.ts:3 Date.now: ask a Clock, or the database for clock_now()',
    ]);
  });
});
