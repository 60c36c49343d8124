import { existsSync } from 'node:fs';

/** The command line as a message can name it: installed with a release or an image, and found by npx in a clone. */
export const program_name = existsSync(new URL('../../../../RELEASE', import.meta.url)) ? 'postrider' : 'npx postrider';
