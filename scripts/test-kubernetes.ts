// npm run test:kubernetes: checks what `kubectl kustomize deploy/kubernetes` prints against the schemas and the types of
// Kubernetes. Needs kubectl (Debian: kubernetes-client) and python3-yaml.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { drillBlocks } from './doc-blocks.ts';
import { root } from './instance.ts';
import { readYaml } from './read-yaml.ts';

const MODELS = 'kubernetes-models';
const VERSION = '5.1.0';

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

interface Deployment extends Resource {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly object[] } } };
}

type Model = new (resource: Resource) => { validate(): void };

// Not a dependency, because starting Postrider would then download it too.
const cache = join(root, `node_modules/.cache/${MODELS}-${VERSION}`);
if (!existsSync(join(cache, 'node_modules', MODELS))) {
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'package.json'), '{ "private": true }\n');
  const install = [
    'install',
    `${MODELS}@${VERSION}`,
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  execFileSync('npm', install, { cwd: cache, stdio: 'inherit' });
}
const resources = readResources(join(root, 'deploy/kubernetes'));

let failures = 0;
function report(name: string, problem: string | null, is_wanted = problem === null): void {
  if (!is_wanted) failures += 1;
  console.log(`${is_wanted ? 'ok    ' : 'FAILED'} ${name}${is_wanted || problem === null ? '' : `: ${problem}`}`);
}

for (const resource of resources) {
  report(`${resource.kind} ${resource.metadata.name}`, (await schemaProblem(resource)) ?? typeProblem(resource));
}
const [OVERLAY = ''] = drillBlocks('docs/kubernetes.md', 'test:kubernetes');
const overlay = mkdtempSync(join(root, 'node_modules/.cache/overlay-'));
try {
  // kustomize only reads bases by relative paths.
  const base = relative(overlay, join(root, 'deploy/kubernetes'));
  const text_here = OVERLAY.replace('../postrider/deploy/kubernetes', base);
  // Before kubectl 1.21, such as Debian's, resources were files alone.
  const version = execFileSync('kubectl', ['version', '--client', '--output=json'], { encoding: 'utf8' });
  const is_old = Number.parseInt(/"minor": "(\d+)/.exec(version)?.[1] ?? '', 10) < 21;
  writeFileSync(join(overlay, 'kustomization.yaml'), is_old ? text_here.replace('resources:', 'bases:') : text_here);
  const own = readResources(overlay);
  const text = JSON.stringify(own);
  const is_applied = text.includes('registry.yourcompany.com/postrider:1.0.0') && text.includes('mail.yourcompany.com');
  report('the overlay of docs/kubernetes.md changes the image and the settings', is_applied ? null : text);
  report('the overlay has all resources', own.length === resources.length ? null : `${own.length} resources`);
} finally {
  rmSync(overlay, { recursive: true });
}
const api = resources.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'api');
if (!api) throw new Error('deploy/kubernetes has no deployment api');
for (const [name, change] of Object.entries<(deployment: Deployment) => void>({
  'a wrong type': ({ spec }) => Object.assign(spec, { replicas: 'two' }),
  'a missing field': ({ spec }) => Reflect.deleteProperty(spec, 'selector'),
  'an unknown field': ({ spec }) => Object.assign(spec.template.spec.containers[0] ?? {}, { imagePolicy: 'Always' }),
})) {
  const deployment = structuredClone(api) as Deployment;
  change(deployment);
  const problem = (await schemaProblem(deployment)) ?? typeProblem(deployment);
  report(`${name} is rejected`, problem, problem !== null);
}
process.exitCode = failures > 0 ? 1 : 0;

function readResources(folder: string): Resource[] {
  return readYaml(execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8' })) as Resource[];
}

/** Returns what the schema rejects: wrong types, missing fields and invalid formats. */
async function schemaProblem(resource: Resource): Promise<string | null> {
  const { apiVersion, kind } = resource;
  const path = join(cache, 'node_modules', MODELS, apiVersion, `${kind}.js`);
  const { [kind]: model } = (await import(pathToFileURL(path).href)) as Record<string, Model>;
  if (!model) return `there is no ${kind} in ${apiVersion}`;
  try {
    new model(resource).validate();
    return null;
  } catch (error) {
    return String(error);
  }
}

/** Returns what the type rejects: the schemas accept unknown fields, and an object literal must not have any. */
function typeProblem(resource: Resource): string | null {
  const { apiVersion, kind } = resource;
  const folder = mkdtempSync(join(tmpdir(), 'postrider-kubernetes-'));
  try {
    symlinkSync(join(cache, 'node_modules'), join(folder, 'node_modules'));
    const lines = [
      `import type { I${kind} } from '${MODELS}/${apiVersion}/${kind}';`,
      `export const resource: I${kind} = ${JSON.stringify(resource)};`,
    ];
    writeFileSync(join(folder, 'resource.mts'), lines.join('\n'));
    const options = ['--ignoreConfig', '--strict', '--noEmit', '--skipLibCheck', '--module', 'nodenext', '--types', ''];
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { status, stdout } = spawnSync(process.execPath, [tsc, ...options, 'resource.mts'], {
      cwd: folder,
      encoding: 'utf8',
    });
    return status === 0 ? null : stdout.trim();
  } finally {
    rmSync(folder, { recursive: true });
  }
}
