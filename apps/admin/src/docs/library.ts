import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { OpenApi } from './reference/document.ts';
import { referencePages } from './reference/pages.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

export interface DocPage {
  /** The part of the page URL after /docs/. */
  readonly name: string;
  readonly title: string;
  readonly markdown: string;
  /** The path from the repository root. Links in the page are relative to it. */
  readonly file: string;
}

export interface Shelf {
  readonly title: string;
  readonly pages: readonly DocPage[];
}

// Shelves in reading order. Pages that are not listed here go on the last shelf.
const sections: readonly (readonly [string, readonly string[]])[] = [
  [
    'Sending email',
    [
      ...[
        'production',
        'sending',
        'templates',
        'frameworks',
        'examples',
        'sdk',
        'python',
        'go',
        'php',
        'webhooks',
        'testing',
        'simulator',
        'domains',
        'deliverability',
        'submission',
      ],
      ...['comparison', 'from-resend', 'from-postmark', 'from-sendgrid', 'from-ses', 'from-mailgun'],
    ],
  ],
  [
    'API reference',
    [
      'api',
      ...[
        'api/email',
        'api/events',
        'api/webhooks',
        'api/suppressions',
        'api/domains',
        'api/api-keys',
        'api/captures',
        'api/requests',
        'api/stats',
        'api/usage',
        'api/erasures',
      ],
      'api/objects',
      'errors',
      'graphql',
      'command-line',
    ],
  ],
  [
    'Operating',
    [
      'self-hosting',
      'growing',
      'kubernetes',
      'releases',
      'operations',
      'transports',
      'feedback',
      'relays',
      'database',
      'backup',
      'retention',
      'settings',
      'limits',
      'admin-actions',
      'metrics',
      'alarms',
      'sign-in',
      'security',
      'reliability',
      'benchmarks',
      'changelog',
    ],
  ],
];
const OTHERS = 'More';

let library: readonly Shelf[] | null = null;

/** Returns every page. Pages are read from disk once. */
export function readLibrary(): readonly Shelf[] {
  library ??= arrange(readPages());
  return library;
}

export function isDecision({ name }: DocPage): boolean {
  return name.startsWith('decisions/');
}

export function allPages(): readonly DocPage[] {
  return readLibrary().flatMap(({ pages }) => pages);
}

function arrange(pages: readonly DocPage[]): Shelf[] {
  const categories = sections.map(([title, names]) => ({
    title,
    pages: names.flatMap((name) => pages.filter((page) => page.name === name)),
  }));
  const placed = new Set(categories.flatMap((shelf) => shelf.pages));
  return [...categories, { title: OTHERS, pages: pages.filter((page) => !placed.has(page)) }];
}

/** Returns the OpenAPI document that the reference is generated from. */
export function readOpenApi(): OpenApi {
  // The cast is safe because a test validates the whole document.
  return JSON.parse(readFileSync(`${root}docs/openapi.json`, 'utf8')) as OpenApi;
}

function readPages(): DocPage[] {
  const names = (folder: string) =>
    readdirSync(root + folder)
      .filter((file) => file.endsWith('.md'))
      .sort()
      .map((file) => file.slice(0, -'.md'.length));
  return [
    ...names('docs').map((name) => pageOf(name, `docs/${name}.md`)),
    pageOf('sdk', 'packages/sdk/README.md'),
    pageOf('changelog', 'CHANGELOG.md'),
    ...names('docs/decisions').map((name) => pageOf(`decisions/${name}`, `docs/decisions/${name}.md`)),
    ...referencePages(readOpenApi()).map(({ name, markdown }) =>
      withTitle(name, name === 'api' ? 'docs/openapi.json' : `docs/${name}.md`, markdown),
    ),
  ];
}

function pageOf(name: string, file: string): DocPage {
  return withTitle(name, file, readFileSync(root + file, 'utf8'));
}

function withTitle(name: string, file: string, markdown: string): DocPage {
  return { name, file, markdown, title: /^# (.+)$/m.exec(markdown)?.[1] ?? name };
}
