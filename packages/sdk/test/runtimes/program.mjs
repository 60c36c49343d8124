// Node, Deno and Bun run this program.
import * as sdk from '@postrider/sdk';
import { runSuite } from './suite.mjs';

const [url, key] = process.argv.slice(-2);
console.log(JSON.stringify(await runSuite({ sdk, url, key })));
