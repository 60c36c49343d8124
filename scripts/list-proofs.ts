// Writes the findings of docs/reliability.md and the sentences of docs/interface.md with their tests, from the titles of
// the tests.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const BEGIN = '<!-- proofs: written by `node scripts/list-proofs.ts` -->\n';
const END = '<!-- proofs end -->';

type Findings = Readonly<Record<string, string>>;

/** What was found by trying it, and what holds since. */
const findings: Findings = {
  'promise P1': 'A stop hands mail back whose content has not begun, and never calls it sent.',
  'promise P2': 'A stop waits for the answers to what is past the dot until just before the end of its grace.',
  'promise P3': 'The answer to the dot has ten minutes; after silence there are two more attempts at most.',
  'promise P4': 'Results are kept until the database is back.',
  'promise P5': 'A domain that DNS does not know is deferred, bounces after an hour, and is never suppressed for it.',
  'promise P6': 'Strangers have the times of RFC 5321, and after a timeout another server is tried.',
  'promise P7': 'Scheduled mail is dated by its schedule, the same on every attempt.',
  'promise P8': 'Mail whose body cannot be read is handed back.',
  'promise P9': 'Nothing is pipelined behind the dot to a stranger.',
  'promise P18': 'A lock or a full disk fails a whole batch immediately with 500.',
  'promise P19': 'No request waits for a database that does not answer.',
  'promise P20': 'Canceling and recording lock in one order; a deadlock is retried once.',
  'promise P22': 'After a change of SECRET_KEY everything is encrypted again, and a wrong key refuses the start.',
  'promise P23': 'An outage of the database is one line of the log, with a count while it lasts.',
  'promise P25': 'Statistics are made in steps whose progress is kept.',
  'promise P26': 'A revoked key stays revoked after a failover to an older standby.',
  'real R1': 'Bounces of all families of mail servers are recorded.',
  'real R2': 'A bounce counts in whatever form a mail system sends it.',
  'real R3': 'A bounce may call itself automatic; an automatic reply is none.',
  'real R4': 'The null sender tells a bounce from an answer.',
  'real R5': 'Where a report names our recipient, only what it says of that one counts.',
  'real R6': 'A status that says nothing is followed by the text for people.',
  'real R7': 'The words of Exim under an address are its reason.',
  'real R8': 'A refusal for spam is about the content.',
  'real R9': 'What is uncertain is soft and suppresses nothing.',
  'real R10': 'A mailbox that is disabled, frozen or locked is not suppressed.',
  'real R11': 'An answer about the sender is none about the recipient.',
  'real R12': 'Words of an unknown user and of a host without mail decide before general codes.',
  'real R13': 'A complaint is read in the form of RFC 5965 and in that of Hotmail.',
  'real R14': 'No other mail becomes a bounce, and a delay is an event of its own.',
  'real R15': 'A fragment is followed once in each selection, however often it is spread.',
  'real R16': 'Every selection of a document costs, introspection and __typename too.',
  'real R19': 'A cancel meets no deadlock with a worker.',
  'real R20': 'A webhook that is deleted fails no fetch of the others.',
  'real R22': 'The embedded Postgres ends with its owner, however that died.',
  'newcomer N7': 'Live workers are counted by /readyz and the banner, and a wrong key refuses the start.',
  'chaos C7': 'A start waits for its database, and ends immediately for what waiting does not cure.',
  'chaos C8': 'No wait for the database is without an end, in any role.',
  'chaos C9': 'A database that takes no writes is not ready.',
  'chaos C10': 'A relay that was away for two seconds has mail three seconds after its return.',
  'chaos C11': 'What is sent and not recorded is bounded.',
  'chaos C12':
    'Email that a dead worker had not claimed continues within ten seconds, and the rest when its lease ends.',
  'chaos C13': 'Where all mail has one destination, nothing is parked to make space.',
  'chaos C14': 'Parking locks in the order of everyone else; a deadlock is retried once.',
  'newcomer N2':
    'A field that means something elsewhere is refused with the right place; other unknown ones are named.',
  'newcomer N3': 'An unknown query parameter is refused with the known ones.',
  'newcomer N8': 'GET /email/{id} answers what /email/logs/{id} does.',
  'newcomer N9':
    'A busy default port yields to the next one, which is kept; a second start says where the first one answers; tests listen on free ports only.',
  'newcomer N11': 'A refusal names its own cause; malformed JSON has its line and column.',
  'newcomer N12': 'Filters compare addresses without case.',
  'newcomer N13': 'A wrong method is told the methods that exist; HEAD answers; a trailing slash is named.',
  'newcomer N18': 'A stream asked for as JSON is told what to accept; the blocks of every page are run.',
  'newcomer N19':
    'Attachments have the type of their name; a CSV header is no address; a webhook has a public host; times have two decimals; a bulk token is short; what was not answered is not to be corrected; a database without TLS is named.',
  'newcomer N20': 'A start lists the embedded databases that no directory refers to, and how to remove them.',
  'real R21': 'A check of a domain ends after three seconds, and says what was not answered.',
  'real R23': 'An address beyond ASCII before the @ is refused as not supported yet.',
  'chaos C1': 'Two bodies that mean the same are one under an idempotency key.',
  'chaos C2': 'A header that may occur once is refused when it is sent twice.',
  'chaos C3': 'A domain that another workspace has verified is added like any other.',
  'chaos C4': 'GraphQL takes the bodies that REST takes, and no other.',
  'chaos C5': 'A header whose value no client could read is refused by name.',
  'chaos C6': 'No control character but TAB reaches a header, and values arrive as sent.',
  'chaos C20': 'An error has one shape, on every path.',
  'fairness N2':
    'Submitted messages are counted before they are parsed, in turns of their workspaces, and end by the error of the parser.',
  'fairness P27': 'A GraphQL response over 4 MiB is rejected before it is built, and reads no more content than that.',
  'fairness N3': 'What strangers and workspaces fill of the request log a minute is bounded, and the rest is counted.',
  'fairness N10': 'What a plan limits of API keys, domains, webhooks, members and captured bytes is never exceeded.',
  'fairness P13':
    'Recoveries of webhook endpoints are one for each endpoint, and take turns between workspaces, a slice at a time.',
  'fairness N4':
    'Erasures are one for each address, bounded in a workspace, and take turns between workspaces, a slice at a time.',
  'fairness N5':
    'Notices of one workspace that cannot be delivered delay neither those of the instance nor those of another workspace.',
  'fairness P12': 'Checks of domains take turns between workspaces, and become rare for servers that never answer.',
  'fairness P15':
    'The requests of all API keys of a workspace together never exceed the rate of its plan, on every API that takes keys.',
  'fairness N6': 'Connections to the submission ports are shared between workspaces and, before the login, networks.',
  'fairness N7': 'A stop waits for email that has arrived whole, and tells 421 to a client that is still sending.',
  'fairness N9':
    'Searches of the documentation are counted by network, and `/readyz` asks the database once a second at most.',
  'fairness P28':
    'Attachments of megabytes are checked by decoding and stored without escapes, and nothing but base64 is taken.',
  'fairness P30': 'The caches of GraphQL documents are bounded by the length of their texts.',
  'fairness P17':
    'Wrong passwords from one network lock neither a known device, an open session, nor the account on other networks.',
  'fairness C15':
    'An endpoint that succeeds gets up to 32 concurrent posts, and one that fails has one left within ten failures.',
  'fairness C16': 'Return addresses with wrong signatures fill no more than one line of the log a minute.',
  'fairness P16': 'One network cannot take the port for returned mail from the others.',
  'fairness L1': 'Every 429 of every API has `Retry-After`, and says when its own limit ends.',
  'fairness L2': 'A stream ends within five seconds of its key, its session or the membership in which it began.',
  'fairness L3': 'A link to content works again after a download that broke, and never after one that was whole.',
  'fairness L4':
    'The profile of the command line is never readable by others, and is not written through a symbolic link.',
  'fairness L5': 'One network cannot take the port that captures email from the others.',
  'fairness L7': 'Failed sign-ins are rejected at the limits that docs/limits.md and docs/security.md name.',
  'fairness L6': '`npm run audit` fails if the registry gives no advisories, and says that nothing was checked.',
  'fairness N8':
    'Only a log line that says that an email was sent ends it after a restore; unclear lines are listed and count as not sent.',
  'fairness P10':
    'Memory for large emails is shared by workspace in bytes, given back at the dot, and an email without a turn takes no connection.',
  'fairness P11':
    'Memory for large request bodies is shared by workspace, with a minimum rate; over it is 429 with Retry-After.',
  'fairness P33':
    'Outside this machine the database is reached with TLS and its certificate verified, by both drivers alike, unless its address says otherwise.',
  'fairness P34': 'Every commit is flushed, even if the role or the database has synchronous_commit off.',
  'fairness P35':
    'Secrets of a first start are printed on a terminal only; elsewhere each is in a file of mode 0600 that the output names.',
  'fairness P36':
    'GraphiQL opens in a window only, and the preview of an email there or in a frame of the dashboard; a script that fetches either gets 403.',
  'fairness P37':
    'Captured email is parsed in threads of its own, in turns of workspaces; smtps:// verifies its server, and HSTS is sent if PUBLIC_URL is https.',
  'fairness N1':
    'A worker that is cut off from the database begins no content, keeps what it had claimed, and has its late results counted.',
};

export const findingsPage = fileURLToPath(new URL('../docs/reliability.md', import.meta.url));
export const sentencesPage = fileURLToPath(new URL('../docs/interface.md', import.meta.url));

export interface TestFile {
  readonly path: string;
  readonly text: string;
}

/** The test files of the repository. */
export function testFiles(): TestFile[] {
  return globSync(['{apps,packages}/**/*.{test,journey}.ts', 'apps/server/test/browser/*.ts'], {
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
    /\b(promise|chaos|real|newcomer|fairness|case) ([A-Z]\d+)((?:(?:, | and )[A-Z]\d+)*)/g,
  )) {
    for (const id of [first, ...(more.match(/[A-Z]\d+/g) ?? [])]) ids.add(`${kind} ${id}`);
  }
  return ids;
}

/** The page of findings with its table as the tests are now. */
export function withFindings(page: string, files: readonly TestFile[]): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`the page lacks its marks ${BEGIN.trim()} and ${END}`);
  const rows = Object.entries(findings).map(([id, holds]) => {
    const tests = files.filter(({ text }) => idsIn(text).has(id)).map(({ path }) => `\`${path}\``);
    return `| ${id} | ${holds} | ${tests.join(', ')} |`;
  });
  const table = ['| id | what holds | tests |', '| --- | --- | --- |', ...rows].join('\n');
  return `${page.slice(0, begin)}${BEGIN}\n${table}\n\n${page.slice(end)}`;
}

/** Findings that no test names. */
export function unproven(files: readonly TestFile[]): string[] {
  return Object.keys(findings).filter((id) => !files.some(({ text }) => idsIn(text).has(id)));
}

/** Ids in titles that the page of findings does not list. */
export function strayIds(files: readonly TestFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const titles = [...text.matchAll(/\b(?:it|describe)(?:\.each)?\b.*|^ *\]\)\(.*/gm)]
      .map(([line]) => line)
      .join('\n');
    return [...idsIn(titles)].filter((id) => !Object.hasOwn(findings, id)).map((id) => `${path} ${id}`);
  });
}

const SENTENCE = /^\| seed (\d+) \| (.*?) \|(?: .* \|)?$/gm;
const SEED_FILE = 'apps/server/test/seed/seed.journey.ts';

/** The numbers of the sentences that a page has. */
export function sentencesOf(page: string): number[] {
  return [...page.matchAll(SENTENCE)].map(([, number]) => Number(number));
}

/** What the test of each sentence says, by the number in its title. */
export function titlesOf(files: readonly TestFile[]): Map<number, string> {
  const titles = new Map<number, string>();
  for (const { path, text } of files) {
    const where = path === SEED_FILE ? '' : ` (\`${path}\`)`;
    for (const [, first, more = '', title = ''] of text.matchAll(/it\('seed (\d+)((?:(?:, | and )\d+)*): (.+?)', /g)) {
      for (const number of [first, ...(more.match(/\d+/g) ?? [])]) titles.set(Number(number), `${title}${where}`);
    }
    // The rows of a table of tests begin with the number.
    for (const [, rows = '', title = ''] of text.matchAll(
      /it\.each(?:<.+>)?\(\[\n((?: {4}\[\d+,.*\n)+) {2}\]\)\('seed %i: (.+?)', /g,
    )) {
      for (const [, number] of rows.matchAll(/^ {4}\[(\d+),/gm))
        titles.set(Number(number), `${title.replaceAll(/%[is]/g, '…')}${where}`);
    }
  }
  return titles;
}

/** The page of sentences with the titles of their tests. */
export function withTitles(page: string, titles: ReadonlyMap<number, string>): string {
  return page.replaceAll(SENTENCE, (_, number: string, sentence: string) => {
    return `| seed ${number} | ${sentence} | ${titles.get(Number(number)) ?? ''} |`;
  });
}

if (import.meta.main) {
  const files = testFiles();
  writeFileSync(findingsPage, withFindings(readFileSync(findingsPage, 'utf8'), files));
  writeFileSync(sentencesPage, withTitles(readFileSync(sentencesPage, 'utf8'), titlesOf(files)));
}
