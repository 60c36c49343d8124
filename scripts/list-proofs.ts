// Writes the table of findings and their tests in docs/reliability.md, from the titles of the tests.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
export const reliabilityPage = fileURLToPath(new URL('../docs/reliability.md', import.meta.url));

const BEGIN = '<!-- proofs: written by `node scripts/list-proofs.ts` -->\n';
const END = '<!-- proofs end -->';

/** What was found by trying it, and what holds since. */
const findings = {
  'promise P1': 'A stop hands mail back whose content has not begun, and never calls it sent.',
  'promise P2': 'A stop waits for the answers to what is past the dot until just before the end of its grace.',
  'promise P3': 'The answer to the dot has ten minutes; after silence there are two more attempts at most.',
  'promise P4': 'Results are kept until the database is back.',
  'promise P5': 'A domain that DNS does not know is deferred, bounces after an hour, and is never suppressed for it.',
  'promise P6': 'Strangers have the times of RFC 5321, and after a timeout another server is tried.',
  'promise P7': 'Scheduled mail is dated by its schedule, the same on every attempt.',
  'promise P8': 'Mail whose body cannot be read is handed back.',
  'promise P9': 'Nothing is pipelined behind the dot to a stranger.',
  'promise P18': 'A lock or a full disk answers a whole batch at once with 500.',
  'promise P19': 'No request waits for a database that does not answer.',
  'promise P20': 'Canceling and recording lock in one order; a deadlock is retried once.',
  'promise P22': 'After a change of SECRET_KEY everything is encrypted again, and a wrong key refuses the start.',
  'promise P23': 'An outage of the database is one line of the log, with a count while it lasts.',
  'promise P25': 'Statistics are made in steps whose progress is kept.',
  'promise P26': 'A revoked key stays revoked after a failover to an older standby.',
  'real R19': 'A cancel meets no deadlock with a worker.',
  'real R20': 'A webhook that is deleted fails no fetch of the others.',
  'real R22': 'The embedded Postgres ends with its owner, however that died.',
  'newcomer N7': 'Live workers are counted by /readyz and the banner, and a wrong key refuses the start.',
  'chaos C7': 'A start waits for its database, and ends at once for what waiting does not cure.',
  'chaos C8': 'No wait for the database is without an end, in any role.',
  'chaos C9': 'A database that takes no writes is not ready.',
  'chaos C10': 'A relay that was away for two seconds has mail three seconds after its return.',
  'chaos C11': 'What is sent and not recorded is bounded.',
  'chaos C12': 'The mail of a dead worker goes on within five seconds.',
  'chaos C13': 'Where all mail has one destination, nothing is parked to make space.',
  'chaos C14': 'Parking locks in the order of everyone else; a deadlock is retried once.',
} as const;

export interface TestFile {
  readonly path: string;
  readonly text: string;
}

/** The test files of the repository. */
export function testFiles(): TestFile[] {
  return globSync(['{apps,packages}/**/*.test.ts', 'apps/server/test/browser/*.ts'], {
    cwd: root,
    exclude: ['**/node_modules/**'],
  })
    .sort()
    .map((path) => ({ path, text: readFileSync(`${root}/${path}`, 'utf8') }));
}

/** The ids that a title names: "promise P1, P2: …", "chaos C7, newcomer N7: …", "(chaos C2)". */
function idsIn(text: string): Set<string> {
  const ids = new Set<string>();
  for (const [, kind, first, more = ''] of text.matchAll(
    /\b(promise|chaos|real|newcomer|case) ([A-Z]\d+)((?:(?:, | and )[A-Z]\d+)*)/g,
  )) {
    for (const id of [first, ...(more.match(/[A-Z]\d+/g) ?? [])]) ids.add(`${kind} ${id}`);
  }
  return ids;
}

/** A page with the table between its two marks as the tests are now. */
export function withProofs(page: string, files: readonly TestFile[]): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`the page lacks its marks ${BEGIN.trim()} and ${END}`);
  const rows = Object.entries(findings).map(([id, holds]) => {
    const tests = files.filter(({ text }) => idsIn(text).has(id)).map(({ path }) => `\`${path}\``);
    return `| ${id} | ${holds} | ${tests.join(', ')} |`;
  });
  const table = ['| id | what holds | tests |', '| --- | --- | --- |', ...rows].join('\n');
  return `${page.slice(0, begin + BEGIN.length)}\n${table}\n\n${page.slice(end)}`;
}

/** Findings that no test names. */
export function unproven(files: readonly TestFile[]): string[] {
  return Object.keys(findings).filter((id) => !files.some(({ text }) => idsIn(text).has(id)));
}

if (import.meta.main) writeFileSync(reliabilityPage, withProofs(readFileSync(reliabilityPage, 'utf8'), testFiles()));
