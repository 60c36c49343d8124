// workerd runs this worker, which runs the suite once per request.
import * as sdk from '@postrider/sdk';
import { runSuite } from './suite.mjs';

export default {
  async fetch(request) {
    const { url, key } = await request.json();
    return Response.json(await runSuite({ sdk, url, key }));
  },
};
