import { cpSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Copies the workspaces and other files, with links to the installed packages, so that a drill can change the copy. */
export function copyTree(root: string, rest: readonly string[] = []): string {
  const copy = mkdtempSync(join(tmpdir(), 'postrider-mutant-'));
  for (const name of ['apps', 'packages', 'package.json', 'patches', ...rest])
    cpSync(join(root, name), join(copy, name), { recursive: true, verbatimSymlinks: true });
  const modules = join(copy, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync(join(root, 'node_modules')).filter((one) => one !== '@postrider'))
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  // These links are relative and point into the copy.
  cpSync(join(root, 'node_modules/@postrider'), join(modules, '@postrider'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  return copy;
}
