import { type Context, invoke } from '@postrider/core';
import {
  addDomain,
  type DomainEntry,
  getDomain,
  listDomains,
  removeDomain,
  verifyDomain,
} from '@postrider/core/domains';
import { resendDomainStatus } from '@postrider/core/webhooks';
import { pageAfter } from './page-after.ts';
import { fieldsOf, type ResendRequest } from './resend-request.ts';

type DnsRecord = DomainEntry['dns_records'][number];

const recordStatuses: Readonly<Record<DnsRecord['status'], string>> = {
  pending: 'pending',
  ok: 'verified',
  missing: 'not_started',
  mismatch: 'failed',
  truncated: 'failed',
  multiple: 'failed',
  lookup_error: 'temporary_failure',
};

export async function create(ctx: Context, request: ResendRequest) {
  const fields = fieldsOf(request);
  const entry = await invoke(ctx, addDomain, {
    name: fields.name,
    ...(fields.custom_return_path !== undefined && { return_path: fields.custom_return_path }),
  });
  return detail(entry);
}

export async function list(ctx: Context, request: ResendRequest) {
  const page = await pageAfter(ctx, listDomains, request);
  return { object: 'list', has_more: page.has_more, data: page.data.map(summary) };
}

export async function get(ctx: Context, { params }: ResendRequest) {
  return { object: 'domain', ...detail(await invoke(ctx, getDomain, { domain: params.id })) };
}

export async function verify(ctx: Context, { params }: ResendRequest) {
  const { id } = await invoke(ctx, verifyDomain, { domain: params.id });
  return { object: 'domain', id };
}

export async function remove(ctx: Context, { params }: ResendRequest) {
  await invoke(ctx, removeDomain, { domain: params.id });
  return { object: 'domain', id: params.id, deleted: true };
}

function summary({ id, name, status, created_at }: DomainEntry) {
  return {
    id,
    name,
    status: resendDomainStatus(status),
    created_at,
    region: 'self-hosted',
    capabilities: { sending: 'enabled', receiving: 'disabled' },
  };
}

function detail(entry: DomainEntry) {
  return { ...summary(entry), records: entry.dns_records.map(dnsRecord) };
}

function dnsRecord({ purpose, type, host, value, ttl, status }: DnsRecord) {
  return {
    record:
      purpose === 'dkim' ? 'DKIM' : purpose === 'spf' || purpose === 'return_path' ? 'SPF' : purpose.toUpperCase(),
    name: host,
    type,
    value,
    ttl: String(ttl),
    status: recordStatuses[status],
  };
}
