import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startSmtpSink, startWebhookSink } from '@postrider/testing';
import { expect, it } from 'vitest';
import { hello, openJourney, statesOf } from '../journey.ts';

// Digits and letters that every encoding leaves unchanged.
const canary = (place: string) => `canary7c1f09${place}`;
const relay = { user: canary('relayuser'), password: canary('relaypassword') };
const login = { user: canary('transportuser'), pass: canary('transportpassword') };
const ADMIN_PASSWORD = canary('adminpassword');

const CREATE = `mutation ($port: Int, $username: String, $password: String) {
  transportCreate(input: { name: "SES", kind: SMTP, host: "127.0.0.1", port: $port, tls: NONE, username: $username, password: $password }) {
    ... on TransportPayload { transport { id } }
  }
}`;
const USE = `mutation ($id: ID!, $to: String) {
  transportRulesSet(input: { rules: [{ destination: "relayed.example", transports: [$id] }] }) { __typename }
  transportTest(input: { id: $id, to: $to }) { ... on TransportTestPayload { checkup { checks { name status detail } } } }
}`;
const READ = '{ transports { name kind host port tls } auditLog(first: 20) { nodes { action diff } } }';

/** Stores every byte that a process exports. */
async function openCollector() {
  const bodies = new Map<string, string>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    request.on('data', (chunk: Buffer) => bodies.set(path, (bodies.get(path) ?? '') + chunk.toString('latin1')));
    request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The server listens on a port, so its address is not a path.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    bodies,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

it('keys, passwords and bodies reach no log, metric or trace, even if the database rejects them', async () => {
  const collector = await openCollector();
  const hook = await startWebhookSink();
  // It rejects the password of the transport, and repeats it.
  const other_relay = await startSmtpSink({ login: { ...login, pass: 'another' } });
  const journey = await openJourney({
    LOG_LEVEL: 'debug',
    ADMIN_EMAIL: 'admin@good.test',
    ADMIN_PASSWORD,
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER_ARG: '1',
  });
  try {
    const { DELIVERY = '' } = journey.env;
    const server = await journey.start({
      METRICS_PORT: '0',
      DELIVERY: DELIVERY.replace('://', `://${relay.user}:${relay.password}@`),
    });
    const body = { ...hello, subject: canary('subject'), text: canary('text'), html: `<p>${canary('html')}</p>` };
    const mail = { ...body, headers: { 'X-Note': canary('header') }, to: `${canary('address')}@example.com` };
    const hooked = await server.call('POST', '/v1/webhooks', { body: { url: `${hook.url}/${canary('path')}` } });
    hook.script(() => ({ kind: 'reply', status: 500, body: canary('answer') }));
    journey.smtp.script(() => ({ kind: 'reply', code: 550, text: `5.1.1 No such user ${canary('reply')}` }));

    const statuses = [];
    const send = async (payload: object | string, key?: string) => {
      const options = { body: payload, ...(key !== undefined && { key }) };
      statuses.push((await server.call('POST', '/v1/email/send', options)).status);
    };
    await send(mail);
    await send(mail, `pr_live_${'a'.repeat(52)}${canary('')}`);
    await send({ ...mail, from: `${canary('sender')}@nowhere.test` });
    await send(`{"text": "${canary('malformed')}`);
    await journey.sql`alter table bodies add constraint refused check (text <> ${journey.sql.unsafe(`'${canary('kept')}'`)})`;
    await send({ ...mail, text: canary('kept') });
    for (const password of [canary('wrongpassword'), ADMIN_PASSWORD]) {
      const form = new URLSearchParams({ email: 'admin@good.test', password }).toString();
      const headers = { origin: server.url, 'content-type': 'application/x-www-form-urlencoded' };
      statuses.push((await server.call('POST', '/login', { key: null, body: form, headers })).status);
    }
    const graphql = async (query: string, variables: object = {}) => {
      const { body: answer } = await server.call('POST', '/graphql', { body: { query, variables } });
      return answer as { data: { transportCreate: { transport: { id: string } } } };
    };
    const variables = { port: other_relay.port, username: login.user, password: login.pass };
    const creation = await graphql(CREATE, variables);
    const { id } = creation.data.transportCreate.transport;
    const change = await graphql(USE, { id, to: 'ada@relayed.example' });
    expect(change).toMatchObject({ data: { transportRulesSet: { __typename: 'TransportRulesPayload' } } });
    const listing = await graphql(READ);
    expect(listing).toMatchObject({ data: { transports: [{}, { name: 'SES' }] } });
    const transcriptOfRelay = async () => {
      // The worker follows the rules within five seconds.
      const email = { ...mail, to: 'ada@relayed.example' };
      await server.call('POST', '/v1/email/send', { body: email });
      const [row] = await journey.sql`
        select t.transcript from attempts a join transcripts t on t.attempt_id = a.id where a.transport_id is not null`;
      return String(row?.transcript);
    };
    await expect.poll(transcriptOfRelay, { interval: 1000 }).toContain('AUTH ***');
    const transcript = await transcriptOfRelay();
    const finished = async () =>
      Object.keys(await statesOf(journey.sql)).some((state) => /bounced|deferred/.test(state));
    await expect.poll(finished).toBe(true);
    await expect.poll(() => hook.requests.length).toBeGreaterThan(0);
    const scraped = await fetch(`http://127.0.0.1:${server.portOf('Metrics')}/metrics`).then((response) =>
      response.text(),
    );
    await server.end();

    expect(statuses).toEqual([202, 401, 422, 400, 500, 401, 303]);
    const outputs = { log: server.stderr(), scraped, ...Object.fromEntries(collector.bodies) };
    expect(Object.keys(outputs)).toEqual(expect.arrayContaining(['/v1/traces', '/v1/metrics']));
    expect(outputs.log).toContain('mail accepted');
    expect(scraped).toContain('postrider_messages_accepted_total');
    const secrets = [journey.secret, journey.env.SECRET_KEY, hooked.body.secret, 'canary7c1f09'].map(String);
    for (const response of [creation, change, listing, transcript])
      expect(JSON.stringify(response)).not.toContain(login.pass);
    for (const [place, text] of Object.entries(outputs)) {
      const leaks = secrets.filter((secret) => text.includes(secret));
      expect([place, ...leaks]).toEqual([place]);
    }
  } finally {
    await journey.stop();
    await hook.stop();
    await other_relay.stop();
    await collector.stop();
  }
});
