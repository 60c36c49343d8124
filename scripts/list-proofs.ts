// Writes the findings in docs/reliability.md and the statements in docs/interface.md with their tests, from the test
// titles.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const BEGIN = '<!-- proofs: written by `node scripts/list-proofs.ts` -->\n';
const END = '<!-- proofs end -->';

type Findings = Readonly<Record<string, string>>;

/** Each problem that a trial uncovered, stated as the guarantee that has held since. */
const findings: Findings = {
  'promise P1':
    'When a worker stops, it hands back emails whose content it has not begun to send, and never reports them as sent.',
  'promise P2': 'A stop waits for replies to completed emails until just before its grace period ends.',
  'promise P3': 'The reply to the final dot can take ten minutes. After a timeout there are at most two more attempts.',
  'promise P4': 'Delivery results are kept until the database is reachable again.',
  'promise P5':
    'Email to a domain that does not exist is deferred and bounces after an hour. The address is not suppressed.',
  'promise P6': 'Mail servers get the timeouts of RFC 5321, and after a timeout another server is tried.',
  'promise P7': 'Scheduled email has its scheduled time as its date, the same on every attempt.',
  'promise P8': 'Email whose content cannot be read is returned to the queue.',
  'promise P9': 'With mail servers other than relays, nothing is pipelined after the final dot.',
  'promise P18': 'If a table is locked or the disk is full, the whole batch fails immediately with 500.',
  'promise P19': 'No request waits for a database that does not respond.',
  'promise P20': 'Canceling and recording results take locks in the same order. A deadlock is retried once.',
  'promise P22':
    'After SECRET_KEY changes, all secrets are encrypted again. With a wrong key, the process does not start.',
  'promise P23': 'A database outage is logged in one line, with a count while it lasts.',
  'promise P25': 'Statistics are computed in steps, and progress is saved after each step.',
  'promise P26': 'A revoked key stays revoked after a failover to a standby that lags behind.',
  'real R1': 'Bounces from all common mail servers are recorded.',
  'real R2': 'Bounces are recognized in every format that mail systems use.',
  'real R3': 'A bounce may be marked as automatic. An automatic reply is not a bounce.',
  'real R4': 'The null sender distinguishes bounces from replies.',
  'real R5': 'If a report covers several recipients, only the part about our recipient counts.',
  'real R6': 'If a status code is too general, the human-readable text decides.',
  'real R7': 'In Exim bounces, the text below an address is its reason.',
  'real R8': 'A rejection for spam is about the content.',
  'real R9': 'Uncertain bounces are soft and suppress nothing.',
  'real R10': 'A disabled, frozen or locked mailbox is not suppressed.',
  'real R11': 'A rejection of the sender does not count against the recipient.',
  'real R12': 'Texts about an unknown user or a host that accepts no email take precedence over general codes.',
  'real R13': "Complaints are parsed in the format of RFC 5965 and in Hotmail's.",
  'real R14': 'No other email counts as a bounce, and a delay has its own event.',
  'real R15': 'A GraphQL fragment is followed once per selection, however often it is used.',
  'real R16': 'Every selection in a GraphQL document has a cost, including introspection and __typename.',
  'real R19': 'Canceling an email cannot deadlock with a worker.',
  'real R20': 'Deleting a webhook does not fail deliveries to other webhooks.',
  'real R22': 'The embedded Postgres stops when its parent process dies, for any reason.',
  'newcomer N7': '/readyz and the banner count live workers. With a wrong key, the process does not start.',
  'chaos C7': 'A starting process waits for its database, but exits immediately if waiting cannot help.',
  'chaos C8': 'No role waits for the database forever.',
  'chaos C9': 'A read-only database is not ready.',
  'chaos C10': 'A relay that was down for two seconds gets email within three seconds of its return.',
  'chaos C11': 'The number of emails that are sent but not recorded is bounded.',
  'chaos C12':
    'After a worker dies, delivery of unclaimed emails continues within ten seconds, and delivery of those it had claimed continues when their lease ends.',
  'chaos C13': 'If all email goes to one destination, nothing is parked to make room.',
  'chaos C14': 'Parking takes locks in the same order as everything else. A deadlock is retried once.',
  'newcomer N2':
    'A field in the wrong place is rejected with an error that names the right place. Other unknown fields are named in the response.',
  'newcomer N3': 'An unknown query parameter is rejected with an error that lists the known ones.',
  'newcomer N8': 'GET /email/{id} returns the same as /email/logs/{id}.',
  'newcomer N9':
    "If the default port is busy, the next free one is used and kept. A second start prints the first one's URL. Tests only listen on free ports.",
  'newcomer N11': 'Every rejection names its own cause. For malformed JSON, that includes line and column.',
  'newcomer N12': 'Filters compare addresses case-insensitively.',
  'newcomer N13':
    'The response to an unsupported method lists the supported ones, HEAD works, and the response to a path with a trailing slash points out the slash.',
  'newcomer N18':
    'A stream requested as JSON gets an error that names the right Accept header. The code blocks of every page are run.',
  'newcomer N19':
    "An attachment's type is derived from its file name. A CSV header is not read as an address. A webhook must have a public host. Times have two decimals. A bulk token is short. A request without a response is not shown as correctable. A database without TLS is reported.",
  'newcomer N20':
    'At startup, embedded databases without a data directory are listed, with instructions for removing them.',
  'real R21': 'Checking a domain takes at most three seconds, and names the queries without a response.',
  'real R23': 'An address with non-ASCII characters before the @ is rejected as not supported yet.',
  'chaos C1': 'For an idempotency key, two bodies with the same meaning count as the same body.',
  'chaos C2': 'A header that may occur only once is rejected if it is sent twice.',
  'chaos C3': 'A domain that another workspace has verified can be added like any other.',
  'chaos C4': 'GraphQL accepts the same request bodies as REST.',
  'chaos C5': 'A header with a value that no client could read is rejected with an error that names it.',
  'chaos C6': 'No control character except TAB reaches a header, and values arrive as sent.',
  'chaos C20': 'Errors have the same format on every path.',
  'fairness N2':
    'Submitted messages count toward the rate limit before they are parsed, workspaces take turns at parsing, and a parse error rejects the message.',
  'fairness P27':
    'A GraphQL response over 4 MiB is rejected before it is built, and no more content than that is read.',
  'fairness N3':
    'Strangers and workspaces can only add a limited number of request log entries per minute. The rest are only counted.',
  'fairness N10': 'The plan limits on API keys, domains, webhooks, members and captured bytes are never exceeded.',
  'fairness P13': 'Each webhook endpoint has at most one recovery, and workspaces take turns, a slice at a time.',
  'fairness N4':
    'Each address has at most one erasure, each workspace a limited number, and workspaces take turns, a slice at a time.',
  'fairness N5':
    "If one workspace's alert notices cannot be delivered, notices for the instance and other workspaces are not delayed.",
  'fairness P12':
    'For domain checks, workspaces take turns. Domains whose servers never respond are checked less often.',
  'fairness P15': "Together, a workspace's API keys never exceed its plan's rate, on any API that accepts keys.",
  'fairness N6':
    'Connections to the submission ports are shared between workspaces and, before authentication, between networks.',
  'fairness N7':
    'A stopping process waits for email that has arrived completely, and replies 421 to clients that are still sending.',
  'fairness N9':
    'Documentation searches are limited per network, and `/readyz` queries the database at most once a second.',
  'fairness P28':
    'Attachments of several megabytes are validated by decoding them and stored without escaping. Only base64 is accepted.',
  'fairness P30': 'The GraphQL document caches are bounded by total text length.',
  'fairness P17':
    'Wrong passwords from one network do not lock out known devices, open sessions, or the account on other networks.',
  'fairness C15':
    'A healthy endpoint gets up to 32 concurrent requests. A failing endpoint is down to one after at most ten failures.',
  'fairness C16': 'Return addresses with invalid signatures cause at most one log line per minute.',
  'fairness P16': 'One network cannot use up the connections of the bounce port.',
  'fairness L1': 'Every 429 from every API has a `Retry-After` that says when that limit ends.',
  'fairness L2': 'A stream closes within five seconds after its key, session or membership ends.',
  'fairness L3': 'A content link works again if the download broke off, and never again after a complete download.',
  'fairness L4':
    "Other users can never read the command line's profile, and it is not written through a symbolic link.",
  'fairness L5': 'One network cannot use up the connections of the capture port.',
  'fairness L7': 'Failed sign-ins are rejected at the limits in docs/limits.md and docs/security.md.',
  'fairness L6': 'If the registry returns no advisories, `npm run audit` fails and says that nothing was checked.',
  'fairness N8':
    'After a restore, an email is marked as sent only if a log line clearly says that it was. Unclear lines are listed and do not count.',
  'fairness P10':
    'Memory for large emails is divided among workspaces by bytes and released at the final dot. An email takes no connection until it has memory.',
  'fairness P11':
    'Memory for large request bodies is divided among workspaces, and uploads must reach a minimum rate. If a workspace has too many large requests waiting, the response is 429 with Retry-After.',
  'fairness P33':
    'Connections to a database on another machine use TLS with a verified certificate, with both drivers, unless the URL says otherwise.',
  'fairness P34': 'Every commit is flushed, even if the role or the database has synchronous_commit off.',
  'fairness P35':
    'The secrets of a first start are printed only in a terminal. Otherwise each is in a file with mode 0600 that the output names.',
  'fairness P36':
    'GraphiQL opens only as a top-level page, and an email preview only as a top-level page or in a dashboard frame. A script that fetches either gets 403.',
  'fairness P37':
    'Captured email is parsed in separate threads, and workspaces take turns. smtps:// verifies the server, and HSTS is sent if PUBLIC_URL is https.',
  'fairness N1':
    'A worker that has lost its database does not start to send content and keeps the emails it has claimed. Its late results are counted.',
};

export const findingsPage = fileURLToPath(new URL('../docs/reliability.md', import.meta.url));
export const sentencesPage = fileURLToPath(new URL('../docs/interface.md', import.meta.url));

export interface TestFile {
  readonly path: string;
  readonly text: string;
}

export function testFiles(): TestFile[] {
  return globSync(['{apps,packages}/**/*.{test,journey}.ts', 'apps/server/test/browser/*.ts'], {
    cwd: root,
    exclude: ['**/node_modules/**'],
  })
    .sort()
    .map((path) => ({ path, text: readFileSync(`${root}/${path}`, 'utf8') }));
}

/** Returns the ids that a title names: "promise P1, P2: …", "chaos C7, newcomer N7: …", "(chaos C2)". */
function idsIn(text: string): Set<string> {
  const ids = new Set<string>();
  for (const [, kind, first, more = ''] of text.matchAll(
    /\b(promise|chaos|real|newcomer|fairness|case) ([A-Z]\d+)((?:(?:, | and )[A-Z]\d+)*)/g,
  )) {
    for (const id of [first, ...(more.match(/[A-Z]\d+/g) ?? [])]) ids.add(`${kind} ${id}`);
  }
  return ids;
}

/** Returns the page of findings with its table rewritten from the tests. */
export function withFindings(page: string, files: readonly TestFile[]): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`the page lacks its marks ${BEGIN.trim()} and ${END}`);
  const rows = Object.entries(findings).map(([id, holds]) => {
    const tests = files.filter(({ text }) => idsIn(text).has(id)).map(({ path }) => `\`${path}\``);
    return `| ${id} | ${holds} | ${tests.join(', ')} |`;
  });
  const table = ['| id | guarantee | tests |', '| --- | --- | --- |', ...rows].join('\n');
  return `${page.slice(0, begin)}${BEGIN}\n${table}\n\n${page.slice(end)}`;
}

/** Returns findings that no test names. */
export function unproven(files: readonly TestFile[]): string[] {
  return Object.keys(findings).filter((id) => !files.some(({ text }) => idsIn(text).has(id)));
}

/** Returns ids in titles that the page of findings does not list. */
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

/** Returns the numbers of the statements on a page. */
export function sentencesOf(page: string): number[] {
  return [...page.matchAll(SENTENCE)].map(([, number]) => Number(number));
}

/** Returns the test title of each statement, by the number in the title. */
export function titlesOf(files: readonly TestFile[]): Map<number, string> {
  const titles = new Map<number, string>();
  for (const { path, text } of files) {
    const location = path === SEED_FILE ? '' : ` (\`${path}\`)`;
    for (const [, , first, more = '', title = ''] of text.matchAll(
      /it\((['"])seed (\d+)((?:(?:, | and )\d+)*): (.+?)\1, /g,
    )) {
      for (const number of [first, ...(more.match(/\d+/g) ?? [])]) titles.set(Number(number), `${title}${location}`);
    }
    // In a table of tests, each row starts with the number.
    for (const [, rows = '', , title = ''] of text.matchAll(
      /it\.each(?:<.+>)?\(\[\n((?: {4}\[\d+,.*\n)+) {2}\]\)\((['"])seed %i: (.+?)\2, /g,
    )) {
      for (const [, number] of rows.matchAll(/^ {4}\[(\d+),/gm))
        titles.set(Number(number), `${title.replaceAll(/%[is]/g, '…')}${location}`);
    }
  }
  return titles;
}

/** Returns the page of statements with the titles of their tests. */
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
