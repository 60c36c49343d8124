import { join } from 'node:path';
import { root } from './pinned-node.mjs';
import { runProgram } from './run-program.mjs';

// turbo reports usage data unless these variables are set, and its configuration file has no option for it.
const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' };
runProgram(process.execPath, [join(root, 'node_modules/turbo/bin/turbo'), ...process.argv.slice(2)], env);
