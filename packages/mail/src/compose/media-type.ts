import { detectMimeType } from 'nodemailer/lib/mime-funcs';

// Types that nodemailer's table lacks, or has in an obsolete form.
const NEWER: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  diff: 'text/x-diff',
  flac: 'audio/flac',
  gpx: 'application/gpx+xml',
  gz: 'application/gzip',
  heic: 'image/heic',
  heif: 'image/heif',
  ical: 'text/calendar',
  js: 'text/javascript',
  jsonl: 'application/jsonl',
  m4a: 'audio/mp4',
  markdown: 'text/markdown',
  md: 'text/markdown',
  mjs: 'text/javascript',
  ndjson: 'application/x-ndjson',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  otf: 'font/otf',
  parquet: 'application/vnd.apache.parquet',
  patch: 'text/x-diff',
  pem: 'application/x-pem-file',
  pkpass: 'application/vnd.apple.pkpass',
  py: 'text/x-python',
  rs: 'text/plain',
  rst: 'text/x-rst',
  sh: 'application/x-sh',
  sql: 'application/sql',
  tgz: 'application/gzip',
  toml: 'application/toml',
  ttf: 'font/ttf',
  vcf: 'text/vcard',
  wasm: 'application/wasm',
  woff: 'font/woff',
  woff2: 'font/woff2',
  xz: 'application/x-xz',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zst: 'application/zstd',
};

/** Returns the media type for a filename's extension. */
export function filenameType(filename: string): string {
  const ending = filename.slice(filename.lastIndexOf('.') + 1).toLowerCase();
  const newer = filename.includes('.') && Object.hasOwn(NEWER, ending) ? NEWER[ending] : undefined;
  return newer ?? detectMimeType(filename);
}
