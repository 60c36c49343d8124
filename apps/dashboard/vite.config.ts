import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compressFolder } from './build/compress.ts';
import { preloadFonts } from './build/preload-fonts.ts';
import { builtFolder, HASH_FILE, hashSources } from './build/sources.ts';

// Computed before the build reads the sources, so that a file that changes during the build causes another build
// instead of a stale one.
const hash = hashSources();

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));

export default defineConfig({
  plugins: [
    react(),
    preloadFonts,
    {
      name: 'finish',
      apply: 'build',
      closeBundle() {
        compressFolder(builtFolder);
        writeFileSync(join(builtFolder, HASH_FILE), hash);
      },
    },
  ],
  resolve: { alias: { '@radix-ui/react-dialog': join(import.meta.dirname, 'build/no-radix-dialog.ts') } },
  define: { RELEASE: JSON.stringify(hash), VERSION: JSON.stringify(version) },
  build: {
    target: 'es2023',
    // Inlining a font or icon would require data: in the CSP.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The bundle contains other projects' code, so their license texts must be included.
    license: { fileName: 'licenses.json' },
  },
});
