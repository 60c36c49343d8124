import { execFileSync } from 'node:child_process';
import { readYaml } from '../read-yaml.ts';
import { root } from './buildah.ts';

export interface ComposeService {
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly image: string;
  readonly healthcheck: { readonly test?: readonly string[] };
}

/**
 * Returns docker-compose.yml as Debian's docker-compose reads it with these variables; fails if the file is invalid.
 */
export function readCompose(variables: Readonly<Record<string, string>>): Readonly<Record<string, ComposeService>> {
  const yaml = execFileSync('docker-compose', ['--profile', 'worker', 'config'], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...variables },
  });
  // Its output is valid input again, so a dollar sign is still doubled.
  const [file] = readYaml(yaml.replaceAll('$$', () => '$')) as { services: Record<string, ComposeService> }[];
  if (!file) throw new Error('docker-compose printed nothing');
  return file.services;
}
