// Queries the registry for advisories on the locked versions. Fails if there are any advisories, or if nothing could be
// checked.
import { spawnSync } from 'node:child_process';

const { stdout, status, error } = spawnSync('npm', ['audit', '--json'], {
  encoding: 'utf8',
  shell: process.platform === 'win32',
  maxBuffer: 64 * 1024 * 1024,
});

/** Returns the JSON that npm printed, or an empty object if npm printed no JSON. */
function reportOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

const report = reportOf(stdout);
if (report.metadata?.vulnerabilities === undefined) {
  const reason = error?.message ?? report.message ?? report.error?.summary ?? 'npm audit gave no report';
  console.error(`Nothing was checked: the registry gave no advisories (${reason}).`);
  console.error('The minimum versions in advisories.json are checked without it: npm run check:rules.');
  process.exitCode = 1;
} else {
  for (const { name, severity, range, via } of Object.values(report.vulnerabilities ?? {})) {
    const titles = via.map((cause) => (typeof cause === 'string' ? `through ${cause}` : `${cause.title} ${cause.url}`));
    console.log(`${severity}: ${name} ${range}: ${titles.join('; ')}`);
  }
  console.log(`${report.metadata.vulnerabilities.total} packages with advisories`);
  process.exitCode = status ?? 1;
}
