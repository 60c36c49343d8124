import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { covers, NOTICES, readNotices } from '@postrider/testing/house-rules';
import { root } from '../image/buildah.ts';
import { bundledPackages } from './sbom.ts';

/** Fails unless THIRD-PARTY-NOTICES names what the built dashboard contains. A house rule checks the other packages. */
export function checkNotices(): void {
  const { dashboard } = readNotices(readFileSync(join(root, NOTICES), 'utf8'));
  const bundle = bundledPackages().map(({ name, identifier }) => ({ name, license: identifier }));
  const problems = [
    ...bundle.filter((one) => !dashboard.some((notice) => covers(notice, one))),
    ...dashboard.filter((notice) => !bundle.some((one) => covers(notice, one))),
  ];
  const names = problems.map(({ name, license }) => `${name} (${license})`).join(', ');
  if (problems.length > 0) throw new Error(`${NOTICES} and the built dashboard differ by ${names}`);
}
