// Builds packages/sdk into packages/sdk/dist, the folder that is packed: one code file and the declarations, each as
// ESM and as CommonJS.
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const from = join(root, 'packages/sdk');
export const sdkPackage = join(from, 'dist');

const formats = { esm: { format: 'es', type: 'module' }, cjs: { format: 'cjs', type: 'commonjs' } } as const;

function manifest(): object {
  const { name, version, license } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'));
  const entry = (folder: string) => ({ types: `./${folder}/index.d.ts`, default: `./${folder}/index.js` });
  return {
    name,
    version,
    description: 'The TypeScript client of Postrider, transactional email that you host yourself',
    license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20.3' },
    main: './cjs/index.js',
    module: './esm/index.js',
    types: './cjs/index.d.ts',
    exports: { '.': { import: entry('esm'), require: entry('cjs') }, './package.json': './package.json' },
    files: ['esm', 'cjs', 'README.md', 'LICENSE'],
  };
}

export async function buildSdk(): Promise<void> {
  rmSync(sdkPackage, { recursive: true, force: true });
  mkdirSync(sdkPackage, { recursive: true });
  execFileSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(from, 'tsconfig.build.json')],
    {
      stdio: 'inherit',
    },
  );
  // Declarations must import the files that exist at run time.
  for (const file of globSync('esm/**/*.d.ts', { cwd: sdkPackage })) {
    const text = readFileSync(join(sdkPackage, file), 'utf8');
    writeFileSync(join(sdkPackage, file), text.replace(/(from '\.[^']*)\.ts'/g, "$1.js'"));
  }
  cpSync(join(sdkPackage, 'esm'), join(sdkPackage, 'cjs'), { recursive: true });
  for (const [folder, { format, type }] of Object.entries(formats)) {
    await build({
      input: join(from, 'src/index.ts'),
      platform: 'neutral',
      logLevel: 'warn',
      output: { file: join(sdkPackage, folder, 'index.js'), format },
    });
    // This file also sets the module type of the declarations beside it.
    writeFileSync(join(sdkPackage, folder, 'package.json'), `${JSON.stringify({ type })}\n`);
  }
  writeFileSync(join(sdkPackage, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
  cpSync(join(from, 'README.md'), join(sdkPackage, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(sdkPackage, 'LICENSE'));
}

if (import.meta.main) await buildSdk();
