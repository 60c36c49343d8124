import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

export type Encoding = 'br' | 'gzip' | 'identity';

export interface BuiltFile {
  readonly type: string;
  readonly bodies: Readonly<Partial<Record<Encoding, Uint8Array<ArrayBuffer>>>>;
}

export const themes = ['light', 'dark', 'system'] as const;
export type Theme = (typeof themes)[number];

export interface BuiltFiles {
  /** A hash of the sources, which changes whenever a build has different sources. */
  readonly release: string;
  /** The dashboard's HTML page, per theme. */
  readonly start: Readonly<Record<Theme, BuiltFile>>;
  /** By request path. */
  readonly assets: ReadonlyMap<string, BuiltFile>;
}

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};

/**
 * Reads all files of a build into memory so that a later build cannot change what this process serves. Returns null if
 * there is no build.
 */
export function readBuiltFiles(folder: string, hash_file: string): BuiltFiles | null {
  const page = join(folder, 'index.html');
  if (!existsSync(page) || !existsSync(join(folder, hash_file))) return null;
  const html = readFileSync(page, 'utf8');
  const start = Object.fromEntries(themes.map((theme) => [theme, startPage(html, theme)]));
  const assets = new Map<string, BuiltFile>();
  for (const entry of readdirSync(join(folder, 'assets'), { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    const type = types[/\.(\w+)$/.exec(entry.name)?.[1] ?? ''];
    if (!entry.isFile() || type === undefined) continue;
    const bodies: BuiltFile['bodies'] = {
      identity: bytes(readFileSync(path)),
      ...(existsSync(`${path}.br`) && { br: bytes(readFileSync(`${path}.br`)) }),
      ...(existsSync(`${path}.gz`) && { gzip: bytes(readFileSync(`${path}.gz`)) }),
    };
    assets.set(`/${relative(folder, path).split(sep).join('/')}`, { type, bodies });
  }
  const release = readFileSync(join(folder, hash_file), 'utf8').trim();
  // The cast is safe because the names come from the list of themes.
  return { release, start: start as Record<Theme, BuiltFile>, assets };
}

/** Writes the theme into the page so that the wrong theme never flashes. */
function startPage(html: string, theme: Theme): BuiltFile {
  const themed = bytes(Buffer.from(html.replace('<html lang="en">', `<html lang="en" data-theme="${theme}">`)));
  const bodies = { identity: themed, br: bytes(brotliCompressSync(themed)), gzip: bytes(gzipSync(themed)) };
  return { type: 'text/html; charset=utf-8', bodies };
}

function bytes(buffer: Buffer): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer);
}
