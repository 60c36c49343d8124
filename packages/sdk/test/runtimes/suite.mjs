// Tests the packed client under every runtime, against a running instance. The suite uses no runtime-specific API, and
// returns the names of the tests that passed and of those that failed.

/** @param {{ sdk: typeof import('@postrider/sdk'), url: string, key: string }} given */
export async function runSuite({ sdk, url, key }) {
  const { Postrider, safe, verifyWebhook } = sdk;
  const postrider = new Postrider({ url, key, max_retries: 5 });
  const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Suite', text: 'Hi', tags: ['suite'] };
  const passed = [];
  const failed = [];
  const check = async (name, run) => {
    try {
      await run();
      passed.push(name);
    } catch (error) {
      failed.push(`${name}: ${error}`);
    }
  };
  const equal = (seen, wanted) => {
    if (JSON.stringify(seen) !== JSON.stringify(wanted)) {
      throw new Error(`${JSON.stringify(seen)} is not ${JSON.stringify(wanted)}`);
    }
  };

  await check('sends a mail and finds it', async () => {
    const { id } = await postrider.email.send(mail);
    equal((await postrider.email.get(id)).subject, 'Suite');
  });
  await check('sends once under one idempotency key', async () => {
    const idempotency_key = crypto.randomUUID();
    const [first, second] = [
      await postrider.email.send(mail, { idempotency_key }),
      await postrider.email.send(mail, { idempotency_key }),
    ];
    equal(second, first);
  });
  await check('schedules and cancels', async () => {
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
    const { id } = await postrider.email.send({ ...mail, scheduled_at });
    equal((await postrider.email.cancel(id)).status, 'canceled');
    equal((await safe(postrider.email.cancel('msg_0'))).error?.reason, 'message_not_found');
  });
  await check('sends a batch, each mail accepted or refused on its own', async () => {
    const { data } = await postrider.email.batch([mail, { ...mail, from: 'nobody@elsewhere.test' }]);
    equal(
      data.map((one) => ('error' in one ? one.error.reason : one.status)),
      ['queued', 'domain_not_verified'],
    );
  });
  await check('iterates a list over its pages', async () => {
    const tag = `tag-${crypto.randomUUID()}`;
    await postrider.email.batch(Array.from({ length: 5 }, () => ({ ...mail, tags: [tag] })));
    const ids = new Set();
    for await (const { id } of postrider.email.logs({ tag, limit: 2 })) ids.add(id);
    equal(ids.size, 5);
  });
  await check('throws typed errors with every bad field', async () => {
    const { data, error } = await safe(postrider.email.send({ ...mail, to: 'nobody', from: 'x' }));
    equal(data, null);
    equal(error instanceof sdk.InvalidRequestError, true);
    equal(
      error.details.map(({ param }) => param),
      ['from', 'to'],
    );
  });
  await check('shows no key', async () => {
    const stranger = new Postrider({ url, key: `pr_live_${'0'.repeat(64)}` });
    const { error } = await safe(stranger.usage.get());
    equal(error instanceof sdk.UnauthorizedError, true);
    equal(`${JSON.stringify(stranger)}${error.stack}${JSON.stringify(error)}`.includes('0000000'), false);
  });
  await check('stops at the signal of the caller', async () => {
    const { error } = await safe(postrider.usage.get({ signal: AbortSignal.abort() }));
    equal(error.name, 'AbortError');
  });
  await check('verifies a signature', async () => {
    const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDOU6xP4KVbjU=';
    const body = '{"id":"evt_example","type":"email.delivered"}';
    const headers = {
      'webhook-id': 'evt_example',
      'webhook-timestamp': '1896080400',
      'webhook-signature': 'v1,BeHn7E/Yf6ObuOA8ipu9MvpUfECSzXkdsBPez1kLlJs=',
    };
    equal((await verifyWebhook(body, headers, secret, { tolerance_seconds: 1e10 })).type, 'email.delivered');
    equal((await safe(verifyWebhook(body, headers, secret))).error?.reason, 'stale_timestamp');
    equal(
      (await safe(postrider.webhooks.verify(`${body} `, headers, secret, { tolerance_seconds: 1e10 }))).error?.reason,
      'wrong_signature',
    );
  });
  return { passed, failed };
}
