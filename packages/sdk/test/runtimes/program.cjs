// Node runs this as CommonJS.
const sdk = require('@postrider/sdk');

const [url, key] = process.argv.slice(-2);
import('./suite.mjs')
  .then(({ runSuite }) => runSuite({ sdk, url, key }))
  .then((outcome) => console.log(JSON.stringify(outcome)));
