import { execFileSync } from 'node:child_process';
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
  const program = 'import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin)["services"], sys.stdout)';
  const services = execFileSync('python3', ['-c', program], { input: yaml, encoding: 'utf8' });
  // What it prints can be read again, so a dollar is still two of them.
  return JSON.parse(services.replaceAll('$$', () => '$'));
}
