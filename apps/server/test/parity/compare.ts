import type { Api, ApiResult, Caller, Refusal } from './apis.ts';
import { type ApiName, type Input, isAbsent, type Setup, type UseCase } from './use-case.ts';

export function offering(use: UseCase, apis: readonly Api[]): Api[] {
  return apis.filter(({ name }) => !isAbsent(use[name]));
}

/** Returns the differences in a use case's results between APIs. `give` creates the input for each API. */
export async function valueDifferences(
  use: UseCase,
  apis: readonly Api[],
  caller: Caller,
  give: () => Promise<Setup>,
  core: (use: UseCase, setup: Setup) => Promise<unknown>,
): Promise<string[]> {
  const shared = use.writes ? null : await give();
  const results: { readonly name: ApiName; readonly value: unknown }[] = [];
  for (const api of offering(use, apis)) {
    const response = await api.ask(use, shared ?? (await give()), caller);
    if ('refusal' in response) return [`${api.name} refuses: ${response.refusal.reason}: ${response.refusal.message}`];
    results.push({ name: api.name, value: plain(response.value, use) });
  }
  // REST and tRPC return core's full response, and GraphQL returns part of it.
  const comparable = results.filter(({ name }) => name !== 'graphql');
  const [first = { value: plain(await core(use, shared ?? (await give())), use) }] = comparable;
  return results
    .slice(0)
    .flatMap(({ name, value }) =>
      name === 'graphql'
        ? unlike(value, first.value, name)
        : [...unlike(value, first.value, name), ...unlike(first.value, value, name)],
    );
}

/** Returns the APIs that do not reject a caller without the scope as expected. Skips APIs that have no such caller. */
export async function scopeDifferences(
  use: UseCase,
  apis: readonly Api[],
  lacking: (scope: string, api: ApiName) => Caller | null,
  setup: Setup,
): Promise<string[]> {
  const differences: string[] = [];
  for (const api of offering(use, apis)) {
    const scope = use.scope_on?.[api.name] ?? use.scope;
    if (scope === null || isAbsent(scope)) continue;
    const caller = lacking(scope, api.name);
    if (!caller) continue;
    const response = await api.ask(use, setup, caller);
    const { code, reason, required_scope } = 'refusal' in response ? response.refusal : success;
    const text = [code, reason, required_scope].join(' ');
    const expected = `forbidden missing_scope ${scope}`;
    if (text !== expected) differences.push(`${api.name}: ${text}, not ${expected}`);
  }
  return differences;
}

const success: Refusal = { code: 'answered', reason: '', message: '', required_scope: null, params: [] };

/** Returns how the APIs differ in the error for a missing object and for another workspace's object. */
export async function absenceDifferences(
  use: UseCase,
  apis: readonly Api[],
  cases: readonly { readonly setup: Setup; readonly caller: Caller }[],
): Promise<string[]> {
  const results: { readonly what: string; readonly text: string }[] = [];
  for (const { setup, caller } of cases) {
    for (const api of offering(use, apis)) {
      const response = await api.ask(use, setup, caller);
      const null_means_absent = api.name === 'graphql' && use.looks_up;
      if (null_means_absent && 'value' in response && response.value === null) continue;
      results.push({ what: api.name, text: absenceOf(response, setup, use) });
    }
  }
  const [first] = results;
  return results
    .filter(({ text }) => text !== first?.text || !text.startsWith('not_found '))
    .map(({ what: name, text }) => `${name}: ${text}, not ${first?.text}`);
}

export function absenceOf(response: ApiResult, { input, ids = {} }: Setup, use: UseCase): string {
  if ('value' in response) return `answered ${JSON.stringify(response.value)}`;
  const { code, reason, message } = response.refusal;
  const names = [use.target === null ? '' : String(input[use.target]), ...Object.values(ids)].filter(
    (name) => name !== '',
  );
  return names.reduce((text, name) => text.replaceAll(name, '…'), `${code} ${reason}: ${message}`);
}

/** Returns how the APIs differ in rejecting invalid input. */
export async function refusalDifferences(
  use: UseCase,
  apis: readonly Api[],
  caller: Caller,
  { input, ids }: Setup,
  bad: Input,
): Promise<string[]> {
  const setup = { input: { ...input, ...bad }, ...(ids && { ids }) };
  const results: { readonly name: ApiName; readonly text: string }[] = [];
  for (const api of offering(use, apis)) {
    const response = await api.ask(use, setup, caller);
    if ('value' in response) results.push({ name: api.name, text: 'answered' });
    else {
      const { code, reason, message, params } = response.refusal;
      results.push({ name: api.name, text: `${code} ${reason} [${params}] ${message}` });
    }
  }
  const [first] = results;
  return results
    .filter(({ text }) => text !== first?.text || text === 'answered')
    .map(({ name, text }) => `${name}: ${text}, not ${first?.text}`);
}

interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** Returns how the APIs differ in a list's pages. Also requests the next page of one API with the cursor of another. */
export async function pageDifferences(
  use: UseCase,
  apis: readonly Api[],
  caller: Caller,
  { input, ids }: Setup,
): Promise<string[]> {
  const offered = offering(use, apis);
  const walks: { readonly name: string; readonly pages: string[] }[] = [];
  for (const order of [...offered.map((api) => [api]), offered]) {
    const pages: string[] = [];
    for (let cursor: string | null = '', turn = 0; cursor !== null && turn < 50; turn++) {
      const api: Api | undefined = order[turn % order.length];
      if (!api) return [];
      const page_input = { ...input, limit: 2, ...(cursor !== '' && { cursor }) };
      const response: ApiResult = await api.ask(use, { input: page_input, ...(ids && { ids }) }, caller);
      if ('refusal' in response) return [`${api.name} refuses page ${turn + 1}: ${response.refusal.message}`];
      const page = response.value as Page;
      pages.push(page.data.map(({ id }) => id).join(' '));
      cursor = page.next_cursor;
    }
    walks.push({ name: order.map(({ name }) => name).join(' and '), pages });
  }
  const first = JSON.stringify(walks[0]?.pages);
  if ((walks[0]?.pages.length ?? 0) < 2) return ['there is but one page'];
  return walks
    .filter(({ pages }) => JSON.stringify(pages) !== first)
    .map(({ name, pages }) => `${name}: ${JSON.stringify(pages)}, not ${first}`);
}

/** Returns a response without API-specific parts. Objects created separately for each API lose only their own names. */
function plain(value: unknown, use: UseCase): unknown {
  if (Array.isArray(value)) return value.map((inner) => plain(inner, use));
  if (typeof value === 'string') return plainText(value, use.writes);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => name !== 'object' && !use.varying.includes(name));
  const first_entry = entries[0];
  if (entries.length === 1 && first_entry?.[0] === 'nodes') return plain(first_entry[1], use);
  return Object.fromEntries(entries.map(([name, inner]) => [name, plain(spelled(name, inner), use)]));
}

/** Replaces a node that stands for an ID or name with that ID or name, and the list ["all"] with "all". */
function spelled(name: string, inner: unknown): unknown {
  if (name === 'queue' && typeof inner === 'object' && inner !== null && 'name' in inner) return inner.name;
  if (name === 'events' && Array.isArray(inner) && inner.length === 1 && inner[0] === 'all') return 'all';
  const stands_for_id = /_id$|_of$/.test(name) && typeof inner === 'object' && inner !== null;
  return stands_for_id ? (inner as { id: unknown }).id : inner;
}

function plainText(text: string, is_generated: boolean): string {
  const lower = /^[A-Z][A-Z0-9_]*$/.test(text) ? text.toLowerCase() : text;
  if (!is_generated) return lower;
  return lower
    .replace(/\b([a-z]{3})_[0-9a-z]{26}\b/g, '$1_…')
    .replace(/\bnr\d+\b/g, 'nr…')
    .replace(/\b(?:pr_live_|whsec_).+/, 'secret');
}

/** Returns the paths at which a value differs from another, considering only the fields of the first value. */
function unlike(value: unknown, other: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null || typeof other !== 'object' || other === null) {
    return Object.is(value, other) ? [] : [`${path}: ${JSON.stringify(value)}, not ${JSON.stringify(other)}`];
  }
  if (Array.isArray(value) && Array.isArray(other) && value.length !== other.length)
    return [`${path}: ${value.length} entries, not ${other.length}`];
  return Object.entries(value).flatMap(([name, inner]) =>
    unlike(inner, (other as Record<string, unknown>)[name], `${path}.${name}`),
  );
}
