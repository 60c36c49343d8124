// Writes the tables of docs/webhooks.md from the event catalog.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { eventCatalogue, eventTypes, exampleEvent } from '@postrider/core/events';
import { createSigner } from '@postrider/core/webhooks';

export const webhooksPage = fileURLToPath(new URL('../docs/webhooks.md', import.meta.url));

const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDOU6xP4KVbjU=';
const SIGNED_AT_MS = Date.UTC(2030, 0, 31, 9);
const SMALL = '{"id":"evt_example","type":"email.delivered"}';

const sections: Readonly<Record<string, () => string>> = {
  events: typesTable,
  example: () => fenced('json config event', JSON.stringify(exampleEvent('email.delivered'), null, 2)),
  signed: signedExample,
};

/** Returns the page with its sections rewritten from the catalog. */
export function withEvents(page: string): string {
  let output = page;
  for (const [name, section] of Object.entries(sections)) {
    const begin = `<!-- ${name}: written by \`node scripts/list-events.ts\` -->\n`;
    const from = output.indexOf(begin);
    const to = output.indexOf(`<!-- ${name} end -->`);
    if (from < 0 || to < from) throw new Error(`the page lacks its marks of ${name}`);
    output = `${output.slice(0, from + begin.length)}\n${section()}\n${output.slice(to)}`;
  }
  return output;
}

function typesTable(): string {
  const rows = eventTypes.map((type) => {
    const { summary, about: description, facts } = eventCatalogue[type];
    const names = Object.keys(facts.shape).map((name) => `\`${name}\``);
    return `| \`${type}\` | ${description} | ${summary} | ${names.join(', ')} |`;
  });
  return ['| type | about a | meaning | in `data` |', '| --- | --- | --- | --- |', ...rows, ''].join('\n');
}

function signedExample(): string {
  const headers = createSigner([SECRET])('evt_example', SIGNED_AT_MS, Buffer.from(SMALL));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return fenced('text', [`secret: ${SECRET}`, ...lines, '', SMALL].join('\n'));
}

function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\`\n`;
}

if (import.meta.main) writeFileSync(webhooksPage, withEvents(readFileSync(webhooksPage, 'utf8')));
