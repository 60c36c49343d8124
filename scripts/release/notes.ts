import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../image/buildah.ts';

/** Returns the release notes: the version's part of the changelog, and how to upgrade. */
export function releaseNotes(version: string): string {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const [, part] =
    new RegExp(`^## ${version.replaceAll('.', '\\.')}\\b[^\\n]*\\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, 'm').exec(
      changelog,
    ) ?? [];
  if (part === undefined) throw new Error(`CHANGELOG.md has no section ${version}`);
  return `# Postrider ${version}

${part.trim()}

## Upgrade

On each machine, compare the archive with \`SHA256SUMS\`, unpack it as root, and run its installer:

\`\`\`
sha256sum --check --ignore-missing SHA256SUMS
tar -xf postrider-${version}-linux-x64.tar.gz
./postrider-${version}/deploy/install.sh --upgrade
\`\`\`

\`install.sh --rollback\` goes back to the previous release. For containers, run \`migrate\` with the new image, then replace
the containers one after another.
`;
}
