// Builds the command line into packages/cli/dist, the folder that is packed as `postrider`: the commands over HTTP, for
// machines that only call Postrider. Commands that run on the machine itself need the repository, and print a message
// to that effect.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const from = join(root, 'packages/cli');
export const cliPackage = join(from, 'dist');

// Modules that open the database, and with it load the whole service.
const ofMachine = /\/packages\/cli\/src\/machine\/[\w-]+\.ts$/;
const ABSENT = 'virtual:not-in-the-package';
const absent = `
const refuse = () => {
  throw Object.assign(new Error('This command works on the machine itself: run it in the clone, the container or the installation.'), {
    name: 'AppError', reason: 'not_installed', facts: {},
  });
};
export const has_machine = false;
export const ${['Migrate', 'RestoreCheck', 'Doctor', 'Databases', 'Move'].map((name) => `add${name} = refuse`).join(', ')}, withMachine = refuse, newLoginLink = refuse, newPassword = refuse, machineHolds = refuse, machineTransports = refuse;
`;

export async function buildCli(): Promise<void> {
  rmSync(cliPackage, { recursive: true, force: true });
  mkdirSync(cliPackage, { recursive: true });
  await build({
    input: { postrider: join(from, 'src/main.ts') },
    platform: 'node',
    logLevel: 'warn',
    // The bundle includes only the parts of core that these commands use, such as webhook signatures.
    treeshake: { moduleSideEffects: false },
    plugins: [
      {
        name: 'without the machine',
        async resolveId(source, importer) {
          if (source === ABSENT) return ABSENT;
          const resolution = await this.resolve(source, importer, { skipSelf: true });
          return resolution && ofMachine.test(resolution.id) ? ABSENT : resolution;
        },
        load: (id) => {
          if (id === ABSENT) return absent;
          return id.endsWith('/core/src/process/program.ts') ? "export const program_name = 'postrider';" : null;
        },
      },
    ],
    output: { dir: join(cliPackage, 'bin'), format: 'es', banner: '#!/usr/bin/env node', minify: false },
  });
  const { version, license } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'));
  const manifest = {
    name: 'postrider',
    version,
    description: 'The command line of Postrider, transactional email that you host yourself',
    license,
    type: 'module',
    engines: { node: '>=20.19' },
    bin: { postrider: './bin/postrider.js' },
    files: ['bin', 'README.md', 'LICENSE'],
  };
  writeFileSync(join(cliPackage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(root, 'docs/command-line.md'), join(cliPackage, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(cliPackage, 'LICENSE'));
}

if (import.meta.main) {
  await buildCli();
  console.log('Built in packages/cli/dist; npm pack ./packages/cli/dist makes the package.');
}
