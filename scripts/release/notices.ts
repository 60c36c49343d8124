import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { covers, NOTICES, readNotices } from '@postrider/testing/house-rules';
import { root } from '../image/buildah.ts';
import { bundledPackages } from './sbom.ts';

/**
 * Fails unless THIRD-PARTY-NOTICES names what the built dashboard contains and every package of the bill of materials. A
 * house rule compares it with the lockfile.
 */
export function checkNotices(bill: string): void {
  const { service, dashboard } = readNotices(readFileSync(join(root, NOTICES), 'utf8'));
  const bundle = bundledPackages().map(({ name, identifier }) => ({ name, license: identifier }));
  const problems = [
    ...bundle.filter((one) => !dashboard.some((notice) => covers(notice, one))),
    ...dashboard.filter((notice) => !bundle.some((one) => covers(notice, one))),
  ];
  const { components } = JSON.parse(bill) as { components: { name: string; purl?: string }[] };
  for (const { name, purl } of components) {
    const isNamed = [...service, ...dashboard].some((notice) => covers(notice, { name, license: notice.license }));
    const is_own = purl?.startsWith('pkg:npm/%40postrider/') !== false;
    if (!is_own && !isNamed) problems.push({ name, license: 'in the bill of materials' });
  }
  const names = problems.map(({ name, license }) => `${name} (${license})`).join(', ');
  if (problems.length > 0) throw new Error(`${NOTICES} and the built dashboard differ by ${names}`);
}
