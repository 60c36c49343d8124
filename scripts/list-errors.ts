// Writes docs/errors.md from the table of reasons.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { advice, errorCodes, httpStatus, type Reason, reasons } from '@postrider/core';

export const errorsFile = fileURLToPath(new URL('../docs/errors.md', import.meta.url));

const introduction = `# Errors

<!-- Written by \`node scripts/list-errors.ts\` from errors.ts and advice.ts of packages/core/src/operation. -->

This page is the list of error codes and their reasons. Every error is a JSON object, \`{ "error": { "code", "reason", "message", "request_id", "docs_url", … } }\`. \`code\` is one
of seven and determines the HTTP status. \`reason\` is more specific: your program should branch on it. \`message\` is for
people and may change. \`details\` lists every invalid field with its \`param\`, \`reason\` and \`message\`. \`docs_url\` is the
reason's page on your instance.
`;

export function errorsPage(): string {
  const sections = errorCodes.map((code) => {
    const rows = (Object.keys(reasons) as Reason[]).filter((reason) => reasons[reason][0] === code);
    const lines = rows.map((reason) => `| \`${reason}\` | ${reasons[reason][1]} | ${advice[reason]} |`);
    return [
      `## ${code}, HTTP ${httpStatus[code]}`,
      '',
      '| reason | meaning | what to do |',
      '| --- | --- | --- |',
      ...lines,
      '',
    ].join('\n');
  });
  return [introduction, ...sections].join('\n');
}

if (import.meta.main) writeFileSync(errorsFile, errorsPage());
