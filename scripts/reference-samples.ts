// Runs the samples of the API reference, each against the objects that it needs.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '@postrider/core';
import type { DnsZone } from '@postrider/testing';
import type { Language } from './doc-blocks.ts';
import type { Instance } from './instance.ts';
import { runSample } from './run-doc-blocks.ts';

const POLL_MS = 250;
const POLL_TIMEOUT_MS = 120_000;
const DAY_MS = 86_400_000;
const PER_MINUTE = 12_000;

/** The examples in the samples, which the reader replaces with their own values. */
export const examples = {
  time: '2030-01-31T09:00:00Z',
  url: 'https://example.com/hooks/postrider',
  email: 'ada@example.com',
  email_in_path: 'ada%40example.com',
  domain: 'example.com',
} as const;

export interface ReferenceOperation {
  readonly operationId: string;
  readonly 'x-codeSamples': readonly { readonly lang: Language; readonly source: string }[];
  readonly responses: Readonly<
    Record<string, { readonly content?: { readonly 'application/json': { readonly example?: unknown } } }>
  >;
}

export interface Reference {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ReferenceOperation>>>>;
}

export function operationsOf({ paths }: Reference): ReferenceOperation[] {
  return Object.values(paths).flatMap((methods) => Object.values(methods));
}

function exampleOf(responses: ReferenceOperation['responses']): object | undefined {
  const examples = Object.values(responses).map(({ content }) => content?.['application/json'].example);
  return examples.find((example) => typeof example === 'object' && example !== null) as object | undefined;
}

/** The fields of any response that are read here. */
interface ResponseFields {
  readonly id: string;
  readonly status: string;
  readonly data: readonly { readonly id: string }[];
  readonly series: readonly unknown[];
  readonly dns_records: readonly { readonly type: string; readonly fqdn: string; readonly value: string }[];
}

/** What a sample's examples stand for in one run. */
type Values = Readonly<Record<string, string>>;

/** Creates what the samples refer to. Every call creates something new, so samples don't depend on one another. */
export class SampleWorld {
  readonly #instance: Instance;
  readonly #zone: DnsZone;
  readonly #receiver = createServer((request, response) => {
    request.resume();
    response.end();
  });
  #count = 0;

  constructor(instance: Instance, zone: DnsZone) {
    this.#instance = instance;
    this.#zone = zone;
  }

  async open(): Promise<void> {
    // The samples of all languages together exceed the limits of a minute.
    const query = `mutation { planUpdate(input: { name: "business", otherPerMinute: ${PER_MINUTE}, logsPerMinute: ${PER_MINUTE} }) { __typename } }`;
    const response = await this.#fetch('POST', '/graphql', { query });
    if (!response.includes('"PlanPayload"')) throw new Error(response);
    await new Promise<void>((resolve) => this.#receiver.listen(0, '127.0.0.1', resolve));
  }

  close(): void {
    this.#receiver.closeAllConnections();
    this.#receiver.close();
  }

  /** Returns a sample's text with real values in the place of its examples. */
  async prepare(operation_id: string, source: string): Promise<string> {
    const values = await this.#values(operation_id);
    return Object.entries(values).reduce((text, [example, value]) => {
      // The ID in a sample is an example of its kind.
      const pattern = /^\w{3}_$/.test(example) ? new RegExp(`${example}[0-9a-z]{26}`, 'g') : example;
      return text.replaceAll(pattern, value);
    }, source);
  }

  async #values(operation_id: string): Promise<Values> {
    const [, resource = '', action = ''] = /^([a-z]+)_(\w+)$/.exec(operation_id) ?? [];
    if (resource === 'email') return this.#emailValues(action);
    if (resource === 'webhooks') return this.#webhookValues(action);
    if (resource === 'captures') return this.#captureValues(action);
    if (resource === 'domains' && action !== 'list') return this.#domainValues(action);
    if (operation_id === 'api_keys_rotate' || operation_id === 'api_keys_revoke') {
      const { id } = await this.#call('POST', '/api-keys', { name: 'Shop', scopes: ['email:send'] });
      return { key_: id };
    }
    if (resource === 'suppressions' && action !== 'list') {
      const email = this.#address();
      if (action === 'delete') await this.#call('POST', '/suppressions', { email });
      return { [examples.email]: email, [examples.email_in_path]: encodeURIComponent(email) };
    }
    if (operation_id === 'erasures_start') return { [examples.email]: this.#address() };
    if (operation_id === 'erasures_get') {
      const email = this.#address();
      await this.#email({ to: email });
      const { id } = await this.#call('POST', '/erasures', { email });
      await this.#until(async () => (await this.#call('GET', `/erasures/${id}`)).status === 'completed');
      return { ers_: id };
    }
    if (resource === 'requests') {
      await this.#call('POST', '/email/send', { from: 'hello@sandbox.test', to: 'ada', text: 'Hello' }, 400);
      const request = await this.#first('/requests?reason=invalid_email');
      return { req_: request.id };
    }
    if (operation_id === 'events_list') await this.#email();
    // Outcomes are counted each minute.
    if (operation_id === 'stats_get')
      await this.#until(async () => (await this.#call('GET', '/stats?group_by=tag&step=hour')).series.length > 0);
    return {};
  }

  async #emailValues(action: string): Promise<Values> {
    if (['send', 'batch'].includes(action)) return {};
    if (action === 'logs') {
      await this.#email({ to: `bounce+5.1.1+${this.#next()}@simulator.test` }, 'bounced');
      return {};
    }
    if (action === 'reschedule' || action === 'cancel') {
      const tomorrow = new Date(systemClock.now() + DAY_MS).toISOString();
      return { msg_: await this.#email({ scheduled_at: tomorrow }, 'scheduled'), [examples.time]: tomorrow };
    }
    if (action === 'give_up') {
      return { msg_: await this.#email({ to: `defer+100+${this.#next()}@simulator.test` }, 'deferred') };
    }
    return { msg_: await this.#email() };
  }

  async #webhookValues(action: string): Promise<Values> {
    const url = `http://127.0.0.1:${(this.#receiver.address() as AddressInfo).port}/hooks/postrider`;
    // A workspace has at most ten.
    for (const { id } of (await this.#call('GET', '/webhooks')).data) await this.#call('DELETE', `/webhooks/${id}`);
    if (action === 'create') return { [examples.url]: url };
    const { id } = await this.#call('POST', '/webhooks', { url, events: 'all' });
    const yesterday = new Date(systemClock.now() - DAY_MS).toISOString();
    if (!/^(?:deliver|replay)/.test(action)) return { whk_: id, [examples.time]: yesterday };
    const delivery = await this.#call('POST', `/webhooks/${id}/test`, {});
    await this.#until(
      async () => (await this.#call('GET', `/webhooks/${id}/deliveries/${delivery.id}`)).status === 'delivered',
    );
    return { whk_: id, whd_: delivery.id };
  }

  async #domainValues(action: string): Promise<Values> {
    const domain = `shop-${this.#next()}.example`;
    if (action === 'add') return { [examples.domain]: domain };
    const { dns_records } = await this.#call('POST', '/domains', { name: domain });
    if (action === 'verify' || action === 'examine')
      for (const { type, fqdn, value } of dns_records) if (type === 'TXT') this.#zone.set(fqdn, 'TXT', [value]);
    return { [examples.domain]: domain };
  }

  async #captureValues(action: string): Promise<Values> {
    const to = this.#address();
    await this.#email({ to });
    const capture = await this.#first(`/captures?to=${encodeURIComponent(to)}&wait=10`);
    return action === 'list' ? { [examples.email]: to } : { cap_: capture.id };
  }

  /** Sends an email and waits until it has a status. */
  async #email(fields: object = {}, status = 'delivered'): Promise<string> {
    const { id } = await this.#call('POST', '/email/send', {
      from: 'Shop <hello@sandbox.test>',
      to: this.#address(),
      subject: 'Your receipt',
      html: '<p>Thank you for your order.</p>',
      tags: ['receipt'],
      ...fields,
    });
    await this.#until(async () => (await this.#call('GET', `/email/${id}`)).status === status);
    return id;
  }

  #address(): string {
    return `ada-${this.#next()}@example.com`;
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }

  async #first(path: string): Promise<{ readonly id: string }> {
    let rows: readonly { readonly id: string }[] = [];
    await this.#until(async () => {
      rows = (await this.#call('GET', path)).data;
      return rows.length > 0;
    });
    return rows[0] as { readonly id: string };
  }

  async #until(isTrue: () => Promise<boolean>): Promise<void> {
    for (let waited_ms = 0; waited_ms < POLL_TIMEOUT_MS; waited_ms += POLL_MS) {
      if (await isTrue()) return;
      await pause(POLL_MS);
    }
    throw new Error('timed out after 2 minutes waiting for the data of a sample');
  }

  async #call(method: string, path: string, body?: object, status?: number): Promise<ResponseFields> {
    return JSON.parse(await this.#fetch(method, `/v1${path}`, body, status)) as ResponseFields;
  }

  async #fetch(method: string, path: string, body?: object, status?: number): Promise<string> {
    const response = await fetch(`${this.#instance.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#instance.key}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (status === undefined ? !response.ok : response.status !== status) throw new Error(`${method} ${path}: ${text}`);
    return text;
  }
}

/** How each language prints the name of a field. */
const shownIn: Readonly<Record<Language, (field: string) => string>> = {
  sh: (field) => `"${field}":`,
  ts: (field) => `${field}:`,
  python: (field) => `'${field}':`,
  go: (field) => `"${field}":`,
  php: (field) => `[${field}] =>`,
};

/** Runs every sample in the given languages. Returns how many passed, and the problems of the others. */
export async function runReferenceSamples(
  reference: Reference,
  instance: Instance,
  zone: DnsZone,
  languages: readonly Language[],
): Promise<{ readonly passed: number; readonly problems: readonly string[] }> {
  const world = new SampleWorld(instance, zone);
  let passed = 0;
  const problems: string[] = [];
  try {
    await world.open();
    for (const { operationId, 'x-codeSamples': samples, responses } of operationsOf(reference)) {
      const fields = Object.keys(exampleOf(responses) ?? {});
      for (const { lang, source } of samples.filter((one) => languages.includes(one.lang))) {
        const { problem, printed } = await runSample(lang, await world.prepare(operationId, source), instance);
        const missing = fields.filter((field) => !printed.includes(shownIn[lang](field)));
        if (problem === null && fields.length > 0 && missing.length === 0) passed += 1;
        else
          problems.push(
            `api: ${operationId} in ${lang}: ${problem ?? `it printed no ${missing.join(', ')}:\n${printed}`}`,
          );
      }
    }
  } finally {
    world.close();
  }
  return { passed, problems };
}
