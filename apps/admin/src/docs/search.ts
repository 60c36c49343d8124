import { setImmediate } from 'node:timers/promises';
import { Marked, type Tokens } from 'marked';
import type MiniSearch from 'minisearch';
import { anchorOf } from './anchor.ts';
import { descriptions } from './descriptions.ts';
import type { DocPage } from './library.ts';
import { plainMarkdown } from './markdown.ts';

export interface Hit {
  readonly page: DocPage;
  readonly heading: string;
  readonly anchor: string;
  readonly excerpt: string;
}

interface Section {
  readonly id: number;
  readonly page: DocPage;
  readonly title: string;
  readonly heading: string;
  readonly anchor: string;
  readonly text: string;
}

const MAX_HITS = 30;
const CHUNK = 10;
const BEFORE = 60;
const EXCERPT = 220;
/** A section with fewer of the words is not about them. */
const MIN_SHARE = 0.5;
const WORD = /[\p{L}\p{N}]+(?:[-_.][\p{L}\p{N}]+)*/gu;

// Words that say nothing about the topic of a question.
const STOP_WORDS = new Set(
  'a an and are as at be by can do does for from how i in is it my of on or that the this to was what when where why with'.split(
    ' ',
  ),
);

/** Words that people search for, with the words that the pages use. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  template: ['templates'],
  schedule: ['scheduling', 'scheduled'],
  later: ['scheduled_at', 'scheduling'],
  retry: ['retries', 'retried'],
  pagination: ['next_cursor', 'cursor'],
  migrate: ['switch', 'import'],
  compare: ['comparison'],
  alternative: ['comparison'],
  alternatives: ['comparison'],
  versus: ['comparison'],
  vs: ['comparison'],
  competitors: ['comparison'],
  codes: ['reason', 'reasons'],
  leaked: ['leaks', 'revoke', 'lost'],
  teammate: ['members', 'team'],
  team: ['members'],
  invite: ['invitations', 'members'],
  stuck: ['delayed', 'waiting', 'waits'],
  transport: ['smtp'],
  spam: ['complaints', 'complaint'],
  factor: ['sign-in'],
  warmup: ['warm'],
  inbound: ['receiving'],
  incoming: ['receiving'],
  received: ['receiving'],
  nodemailer: ['smtp', 'submission'],
  token: ['key'],
  quota: ['limits', 'plan'],
  throttling: ['limits', 'rate'],
  max: ['limit', 'limits'],
  maximum: ['limit', 'limits'],
  size: ['limits', 'bytes', 'mb', 'mib'],
  unsubscribe: ['list-unsubscribe'],
  cron: ['schedule', 'scheduling'],
  docker: ['container', 'image'],
  helm: ['kubernetes'],
  k8s: ['kubernetes'],
  letsencrypt: ['certificates'],
  ssl: ['tls', 'certificates'],
  mfa: ['sign-in', 'password'],
  '2fa': ['sign-in', 'password'],
  gdpr: ['erase', 'retention'],
  delete: ['erase', 'remove'],
};

interface Index {
  readonly engine: MiniSearch<Section>;
  readonly sections: readonly Section[];
}

let index: Promise<Index> | null = null;

/** Returns the sections about the query's words, the best first. Words match from their start, with small mistakes. */
export async function search(pages: readonly DocPage[], query: string): Promise<Hit[]> {
  index ??= createIndex(pages);
  const { engine, sections } = await index;
  const words = [...new Set(query.toLowerCase().match(WORD) ?? [])].filter((word) => !STOP_WORDS.has(word));
  if (words.length === 0) return [];
  const hits = engine.search(words.join(' '), {
    boost: { heading: 6, title: 4 },
    prefix: (term) => term.length > 2,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    weights: { fuzzy: 0.2, prefix: 0.6 },
    // People look for how to use the product, less for how it came about.
    boostDocument: (id: number) => weightOf(sections[id]?.page),
  });
  // A word that no page has says nothing about the others.
  const matches = new Set(hits.flatMap(({ queryTerms: query_terms }) => query_terms));
  const topics = words.filter((word) => meanings(word).some((one) => matches.has(one)));
  return hits
    .map(({ id, score, terms, queryTerms: query_terms }) => {
      const count = topics.filter((word) => meanings(word).some((one) => query_terms.includes(one))).length;
      const share = count / topics.length;
      return { section: sections[id as number], terms, share, points: score * share ** 3 };
    })
    .filter(({ share }) => share > MIN_SHARE)
    .sort((one, other) => other.points - one.points)
    .slice(0, MAX_HITS)
    .flatMap(({ section, terms }) => {
      if (!section) return [];
      const { page, heading, anchor } = section;
      return [{ page, heading, anchor, excerpt: excerptOf(section, terms) }];
    });
}

function meanings(word: string): string[] {
  return [word, ...(synonyms[word] ?? [])];
}

/** Creates the index a page at a time, because requests of the API run in the same process. */
async function createIndex(pages: readonly DocPage[]): Promise<Index> {
  const sections: Section[] = [];
  for (const page of pages) {
    for (const section of sectionsOf(page)) sections.push({ ...section, id: sections.length });
    await setImmediate();
  }
  const { default: Engine } = await import('minisearch');
  const engine = new Engine<Section>({
    fields: ['title', 'heading', 'text'],
    tokenize: (text) => text.match(WORD) ?? [],
    searchOptions: { processTerm: (term) => meanings(term.toLowerCase()) },
  });
  await engine.addAllAsync(sections, { chunkSize: CHUNK });
  return { engine, sections };
}

const GUIDES =
  /^(?:production|sending|templates|deliverability|webhooks|domains|testing|submission|self-hosting|growing|backup)$/;
const BACKGROUND =
  /^(?:decisions\/|changelog$|features$|interface$|design$|architecture$|packages$|benchmarks$|reliability$)/;

function weightOf(page: DocPage | undefined): number {
  if (page === undefined || BACKGROUND.test(page.name)) return 0.2;
  // Their fields have many words in common with the guides.
  if (page.name.startsWith('api/')) return page.name === 'api/objects' ? 0.4 : 0.7;
  return GUIDES.test(page.name) ? 1.5 : 1;
}

/** Splits a page at its headings. A line of a sample that looks like a heading isn't one. */
function sectionsOf(page: DocPage): Omit<Section, 'id'>[] {
  const sections: { heading: string; raw: string }[] = [];
  for (const token of new Marked().lexer(plainMarkdown(page))) {
    if (token.type === 'heading' && (token as Tokens.Heading).depth <= 3)
      sections.push({ heading: plainHeading((token as Tokens.Heading).text), raw: '' });
    const section = sections.at(-1);
    // The reference has each request in five languages.
    if (token.type === 'code' && page.name.startsWith('api/')) continue;
    if (section && token.type !== 'heading') section.raw += `${token.raw}\n`;
  }
  return sections.map(({ heading, raw }, index) => {
    // The summary has words that the page itself may not have.
    const text = `${raw} ${index === 0 ? (descriptions[page.name] ?? '') : ''}`
      .replace(/[`*|]|\]\([^)]*\)|\[/g, ' ')
      .replace(/(?:^|\s):?-{3,}:?(?=\s|$)/g, ' ')
      .replace(/\s+/g, ' ');
    return { page, title: page.title, heading, anchor: anchorOf(heading), text };
  });
}

/** Returns a heading without code marks and the targets of links. */
function plainHeading(text: string): string {
  return text.replaceAll('`', '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
}

function excerptOf({ text }: Section, words: readonly string[]): string {
  const low = text.toLowerCase();
  const places = words.map((word) => low.indexOf(word)).filter((place) => place >= 0);
  const from = Math.max(0, Math.min(...places, text.length) - BEFORE);
  return `${from > 0 ? '…' : ''}${text.slice(from, from + EXCERPT).trim()}${from + EXCERPT < text.length ? '…' : ''}`;
}
