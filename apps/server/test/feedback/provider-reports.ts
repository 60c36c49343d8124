import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { listEvents } from '@postrider/core/events';
import { setFeedback } from '@postrider/core/feedback';
import { getMessage } from '@postrider/core/messages';
import { createTransport, setTransportRules } from '@postrider/core/transports';
import { bringMail, complaintReport, deliveryReport } from '@postrider/testing';
import { describe, expect, it } from 'vitest';
import type { Stage } from './stage.ts';
import { DIAGNOSTIC, type Post, type Report, stubs } from './stubs.ts';

const DELAYED_COUNT = 2;

let seed = 11;
function shuffled<T>(items: readonly T[]): T[] {
  const copy = [...items];
  for (let at = copy.length - 1; at > 0; at--) {
    seed = (seed * 48_271) % 2_147_483_647;
    const other = seed % (at + 1);
    [copy[at], copy[other]] = [copy[other] as T, copy[at] as T];
  }
  return copy;
}

/** Posts like a provider that repeats what was not taken. */
async function repeated({ deliver }: Stage, path: string, post: Post): Promise<void> {
  for (;;) {
    const status = await deliver(path, post);
    if (status === 200) return;
    expect(status).toBe(429);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Providers that also report by email. */
const BESIDE = new Set(['ses', 'postmark']);

/** Reports every second recipient by email too, in the order of the service that returns it. */
async function reportsByEmail({ relay, returns_port }: Stage, reports: readonly Report[]): Promise<void> {
  const senders = new Map(relay.messages.map(({ envelope_to, envelope_from }) => [envelope_to[0], envelope_from]));
  for (const { kind, recipient } of reports.filter((_, index) => index % 2 === 0)) {
    const report = { address: recipient, action: 'failed', status: '5.1.1', diagnostic: DIAGNOSTIC };
    const raw = kind === 'complained' ? complaintReport('abuse') : deliveryReport(report);
    const response = await bringMail(returns_port, { from: '', to: senders.get(recipient) ?? '', raw });
    expect(response.data).toMatch(/^250 /);
  }
}

/** Tests that the reports of each provider about a number of emails are recorded exactly. */
export function testReports(stage: Stage, emails: number): void {
  const { world, relay, deliver } = stage;
  const bounced_count = emails / 10;
  const complained_count = Math.ceil(emails / 50);
  const timeout_ms = 120_000 + emails * 200;
  const operator = () => world.as(world.workspace_id);
  describe.each(Object.entries(stubs))('feedback of %s', (provider, stub) => {
    it(
      'is recorded exactly, in any order and repeated, and only with its proof',
      async () => {
        const relay_transport = { name: provider, kind: 'smtp', host: '127.0.0.1', port: relay.port, tls: 'none' };
        const { id: transport_id } = await invoke(operator(), createTransport, relay_transport);
        const feedback = await invoke(operator(), setFeedback, { transport_id, provider, secret: stub.secret });
        const secret = feedback.secret ?? stub.secret ?? '';
        const { pathname } = new URL(feedback.url);
        await invoke(operator(), setTransportRules, { rules: [{ transports: [transport_id] }] });
        const to = (index: number) => `${provider}-${index}@example.com`;
        const ids: string[] = [];
        for (let index = 0; index < emails; index++) {
          const email = { from: 'hello@shop.example', to: to(index), subject: 'Hello', text: 'Hi' };
          ids.push((await invoke(operator(), sendMessage, email)).id);
        }
        await world.drain();
        const references = new Map(
          relay.messages.map(({ envelope_to, raw }) => [envelope_to[0], stub.referenceIn?.(raw.toString('latin1'))]),
        );
        const reports = ids.map((id, index): Report => {
          const [bounced, complained, delayed] = [
            bounced_count,
            bounced_count + complained_count,
            bounced_count + complained_count + DELAYED_COUNT,
          ];
          const kind =
            index < bounced ? 'bounced' : index < complained ? 'complained' : index < delayed ? 'delayed' : 'delivered';
          const reference = references.get(to(index)) ?? '';
          if (stub.referenceIn) expect(reference).toMatch(/^[0-9a-z]{42}\./);
          return {
            kind,
            id: `${provider}-${index}`,
            recipient: to(index),
            message_id: `${id}@shop.example`,
            reference,
          };
        });

        const [first] = reports;
        if (!first) throw new Error('no report');
        const forged = stub.post({ ...first, id: 'forged' }, secret);
        const is_public_key = provider === 'sendgrid' || provider === 'ses';
        const tampered = is_public_key ? { ...forged, body: forged.body.replace(/bounce/i, 'complaint') } : null;
        expect(
          await deliver(pathname, tampered ?? stub.post(first, `whsec_${Buffer.alloc(24, 1).toString('base64')}`)),
        ).toBe(401);
        const by_email = BESIDE.has(provider)
          ? reportsByEmail(stage, reports.slice(0, bounced_count + complained_count))
          : undefined;
        for (const report of shuffled([...reports, ...reports]))
          await repeated(stage, pathname, stub.post(report, secret));
        await by_email;

        const statusOf = async (id: string) => (await invoke(operator(), getMessage, { id })).status;
        await expect
          .poll(
            async () => {
              const statuses = await Promise.all(ids.map(statusOf));
              return [...Map.groupBy(statuses, (status) => status)]
                .map(([status, all]) => `${status} ${all.length}`)
                .sort();
            },
            { timeout: timeout_ms / 4, interval: 200 },
          )
          .toEqual([
            `bounced ${bounced_count}`,
            `complained ${complained_count}`,
            `delivered ${emails - bounced_count - complained_count}`,
          ]);
        for (const [type, count] of [
          ['email.bounced', bounced_count],
          ['email.complained', complained_count],
          ['email.delivery_delayed', DELAYED_COUNT],
        ] as const) {
          const { data } = await invoke(operator(), listEvents, { type, limit: 100 });
          expect(data.filter(({ email_id }) => ids.includes(email_id ?? ''))).toHaveLength(count);
        }
        const rows = await world.services.sql<{ email: string }[]>`select email from suppressions`;
        const addresses = rows.map(({ email }) => email).filter((email) => email.startsWith(`${provider}-`));
        expect(addresses.toSorted()).toEqual(
          Array.from({ length: bounced_count + complained_count }, (_, index) => to(index)).toSorted(),
        );
      },
      timeout_ms,
    );
  });
}
