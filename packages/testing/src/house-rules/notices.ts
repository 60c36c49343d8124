import { fieldsOf } from './manifests.ts';
import { at, type HouseRule } from './tree.ts';

export const NOTICES = 'THIRD-PARTY-NOTICES';

/** A package that THIRD-PARTY-NOTICES names, under its license. A name may end in a star. */
export interface Notice {
  readonly name: string;
  readonly license: string;
}

export interface Notices {
  readonly service: readonly Notice[];
  readonly dashboard: readonly Notice[];
}

/** Reads the two lists of the file: a license, then the names below it, indented. */
export function readNotices(text: string): Notices {
  const [, service = '', dashboard = ''] =
    /^In the service$([\s\S]*?)^In the built dashboard$([\s\S]*?)^Notes$/m.exec(text) ?? [];
  return { service: listOf(service), dashboard: listOf(dashboard) };
}

function listOf(part: string): Notice[] {
  return [...part.matchAll(/^(\S.*)\n((?: {2}.+\n)+)/gm)].flatMap(([, license = '', names = '']) =>
    names
      .split(/[\s,]+/)
      .filter(Boolean)
      .map((name) => ({ name, license })),
  );
}

/** Requires a notice, with its license, for each locked package that isn't for development alone, and no other. */
export const noticesAgree: HouseRule = (files) => {
  const [file, lock] = [NOTICES, 'package-lock.json'].map((name) => files.find(({ path }) => path === name));
  if (!file || !lock) return [];
  const packages = Object.entries(fieldsOf(fieldsOf(JSON.parse(lock.text)).packages)).flatMap(([path, value]) => {
    const { license, link, dev } = fieldsOf(value);
    const [, name] = /.*node_modules\/(.+)$/.exec(path) ?? [];
    return name === undefined || link === true ? [] : [{ name, license: plain(String(license)), runs: dev !== true }];
  });
  const { service, dashboard } = readNotices(file.text);
  const missing = packages
    .filter((one) => one.runs && !service.some((notice) => covers(notice, one)))
    .map(({ name, license }) => at(file, 0, `${name} (${license}) is not named`));
  const extra = [
    ...service.filter((notice) => !packages.some((one) => one.runs && covers(notice, one))),
    ...dashboard.filter((notice) => !packages.some((one) => covers(notice, one))),
  ].map(({ name, license }) => at(file, file.text.indexOf(name), `${name} is not locked under ${license}`));
  return [...missing, ...extra];
};

export function covers(notice: Notice, { name, license }: Notice): boolean {
  if (notice.license !== license) return false;
  return notice.name.endsWith('*') ? name.startsWith(notice.name.slice(0, -1)) : notice.name === name;
}

/** npm locks a choice of licenses in parentheses. */
function plain(license: string): string {
  return license.replace(/^\((.*)\)$/, '$1');
}
