import { type ConnectionTest, isThisMachine, type SmtpTransportOptions, testConnection } from '@postrider/mail';
import { relayOfRow, relaysOfDelivery } from '../delivery/index.ts';
import type { ActorContext } from '../operation/context.ts';
import { DecryptionError } from '../process/encryption.ts';
import type { TransportRow, UsedTransports } from '../transports/index.ts';
import { type Finding, failing, ok, skipped, warning } from './finding.ts';

const TEST_MS = 4000;

const steps = ['dns', 'connect', 'tls', 'sign_in'] as const;
type Step = (typeof steps)[number];

/** Tests every relay that the rules use, and returns the worst finding. Nothing is sent. */
export async function checkRelays(ctx: ActorContext, { has_default, rows }: UsedTransports): Promise<Finding> {
  const of_delivery = has_default
    ? relaysOfDelivery(ctx).map((relay) => ({ name: 'DELIVERY', test: () => testRelay(relay) }))
    : [];
  const of_rows = rows
    .filter(({ kind }) => kind === 'smtp')
    .map((row) => ({ name: row.name, test: () => testRelayOfRow(ctx, row) }));
  const relays = [...of_delivery, ...of_rows];
  if (relays.length === 0) return skipped('No email goes through a relay.');
  const tests = await Promise.all(
    relays.map(async ({ name, test }) => ({ name, findings: Object.values(await test()) })),
  );
  for (const status of ['failing', 'warning']) {
    for (const { name, findings } of tests) {
      const problem = findings.find((finding) => finding.status === status);
      if (problem) return { ...problem, detail: `${name}: ${problem.detail}` };
    }
  }
  return ok(`Ready to accept email: ${tests.map(({ name }) => name).join(', ')}.`);
}

/** Tests the relay of a transport, whose password this process may not be able to decrypt. */
export async function testRelayOfRow(ctx: ActorContext, row: TransportRow): Promise<Record<string, Finding>> {
  try {
    return await testRelay(relayOfRow(ctx, row));
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    const fix = 'Set SECRET_KEY_PREVIOUS to the key that encrypted it, or set the password again.';
    return { sign_in: failing('SECRET_KEY cannot decrypt the password.', fix) };
  }
}

/** Tests the connection to a relay up to signing in, and returns a finding for each step. Nothing is sent. */
export async function testRelay(relay: SmtpTransportOptions): Promise<Record<Step, Finding>> {
  const signal = AbortSignal.timeout(TEST_MS);
  const test = await testConnection(relay, signal);
  const problem = signal.aborted ? `No response within ${TEST_MS / 1000} s.` : test.problem;
  const failed_index = test.failed_at === null ? steps.length : steps.indexOf(test.failed_at);
  const findingOf = (step: Step, index: number): Finding => {
    if (index > failed_index) return skipped('Not reached.');
    if (index === failed_index) return failing(problem ?? 'No response.', fixes[step](relay));
    return results[step](relay, test);
  };
  const [dns, connect, tls, sign_in] = steps.map(findingOf) as [Finding, Finding, Finding, Finding];
  return { dns, connect, tls, sign_in };
}

const placeOf = ({ host, port }: SmtpTransportOptions) => `${host}:${port}`;

const fixes: Record<Step, (relay: SmtpTransportOptions) => string> = {
  dns: ({ host }) => `Correct the host name ${host}, or the DNS settings of this machine.`,
  connect: (relay) =>
    `Check that ${placeOf(relay)} is the address and port that your provider names, and that this network allows connections to it.`,
  tls: () => 'Check the host name, the port and the TLS policy: the certificate must be valid for the host name.',
  sign_in: () => 'Check the user name and the password. Some providers issue a password for SMTP alone.',
};

const results: Record<Step, (relay: SmtpTransportOptions, test: ConnectionTest) => Finding> = {
  dns: ({ host }, { addresses }) => ok(`${host} resolves to ${addresses.join(', ')}.`),
  connect: (relay) => ok(`${placeOf(relay)} accepts connections.`),
  tls: ({ tls, host }, test) => {
    if (test.tls === null) {
      return tls === 'none' || isThisMachine(host)
        ? skipped(tls === 'none' ? 'The TLS policy is none.' : 'The relay is this machine.')
        : warning('The relay offers no TLS, so email crosses the network unencrypted.', 'Use a relay that offers TLS.');
    }
    return ok(
      `${test.tls.protocol}, ${test.tls.authorized ? 'with a valid certificate' : 'certificate not verified'}.`,
    );
  },
  sign_in: ({ user }) => (user ? ok(`The relay accepts the user ${user}.`) : skipped('No user name is set.')),
};
