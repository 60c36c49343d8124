import { useSearch } from '@tanstack/react-router';
import { Ban, Check, Clock, EllipsisVertical, Plus, RefreshCw } from 'lucide-react';
import { trpc } from '../../../api/trpc.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { Check as CheckBox } from '../../../parts/field.tsx';
import { useKeyset } from '../../../parts/keyset.ts';
import { type Column, KeysetList } from '../../../parts/list.tsx';
import { Menu, MenuItem } from '../../../parts/menu.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { Empty } from '../../../parts/states.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { CreateKey } from './create-key.tsx';
import type { Key } from './key.ts';
import { RevokeKey } from './revoke-key.tsx';
import { RotateKey } from './rotate-key.tsx';
import { words } from './strings.ts';
import { useOpened } from './use-opened.ts';

export function ApiKeysPage() {
  const search = useSearch({ from: '/shell/settings/api-keys' });
  const { gone: show_inactive = false } = search;
  const opened = useOpened();
  const list = useKeyset(trpc.apiKeys.list, { limit: 100 });
  const all = list.rows ?? [];
  const active = all.filter(({ status }) => status === 'active');
  const rows = show_inactive ? all : active;
  const find = (id: string | undefined) => all.find((key) => key.id === id);
  const create = (
    <Button kind="primary" needs="admin" onClick={() => opened.open({ open: 'new' })}>
      <Plus size={15} />
      {words.create}
    </Button>
  );
  const unused = active.filter(({ last_used_at }) => last_used_at === null).length;
  const response = active.length === 0 ? words.answer.none : words.answer.some(active.length, unused);
  const rotated = find(search.rotate);
  const revoked = find(search.revoke);
  return (
    <Page>
      <PageHeader title={words.title} answer={list.rows && response} actions={create} />
      <KeysetList
        label={words.title}
        list={{ ...list, ...(list.rows && { rows }) }}
        columns={columns(opened.open)}
        idOf={({ id }) => id}
        marked={search.key}
        nameOf={({ name }) => name}
        freshWord={words.newRows}
        empty={
          <Empty title={words.empty.title}>
            <p>{words.empty.about}</p>
            {create}
          </Empty>
        }
      />
      {all.length > active.length && (
        <CheckBox name="gone" label={words.showGone} checked={show_inactive} onChange={opened.showGone} />
      )}
      {search.open === 'new' && <CreateKey onClose={opened.close} />}
      {rotated && <RotateKey apiKey={rotated} onClose={opened.close} />}
      {revoked && <RevokeKey apiKey={revoked} onClose={opened.close} />}
    </Page>
  );
}

function columns(open: ReturnType<typeof useOpened>['open']): readonly Column<Key>[] {
  const { name, key, scopes, domains, used, created, state } = words.columns;
  return [
    { name, width: '22%', show: (row) => <strong>{row.name}</strong> },
    {
      name: key,
      width: 'fit',
      less: true,
      show: ({ prefix, last4 }) => (
        <span className="mono muted">
          {prefix}…{last4}
        </span>
      ),
    },
    { name: scopes, show: (row) => <span title={row.scopes.join(', ')}>{row.scopes.join(', ')}</span> },
    {
      name: domains,
      width: '14%',
      less: true,
      show: (row) => row.domains?.join(', ') ?? <span className="faint">{words.anyDomain}</span>,
    },
    {
      name: used,
      width: 'fit',
      less: true,
      show: ({ last_used_at }) =>
        last_used_at === null ? <span className="faint">{words.never}</span> : <RelativeTime at={last_used_at} />,
    },
    { name: created, width: 'fit', less: true, show: ({ created_at }) => <RelativeTime at={created_at} /> },
    { name: state, width: 'fit', show: stateOf },
    { name: '', width: 'fit', end: true, show: (row) => <Actions row={row} open={open} /> },
  ];
}

function stateOf({ status, mode, replaced_by }: Key) {
  return (
    <span className="line nowrap">
      {status !== 'active' ? (
        <Badge tone="calm" icon={status === 'expired' ? Clock : Ban}>
          {words.states[status]}
        </Badge>
      ) : replaced_by !== null ? (
        <Badge tone="wait" icon={RefreshCw} title={words.replacedAbout}>
          {words.states.replaced}
        </Badge>
      ) : (
        <Badge tone="good" icon={Check}>
          {words.states.active}
        </Badge>
      )}
      {mode === 'sandbox' && (
        <span className="chip" title={words.sandboxAbout}>
          {words.sandbox}
        </span>
      )}
    </span>
  );
}

function Actions({ row, open }: { readonly row: Key; readonly open: ReturnType<typeof useOpened>['open'] }) {
  if (row.status !== 'active') return null;
  return (
    <Menu label={words.actions(row.name)} className="button plain icon" button={<EllipsisVertical size={15} />}>
      {row.replaced_by === null && (
        <MenuItem onSelect={() => open({ rotate: row.id })}>
          <RefreshCw size={14} />
          {words.rotate}
        </MenuItem>
      )}
      <MenuItem onSelect={() => open({ revoke: row.id })}>
        <Ban size={14} />
        {words.revoke}
      </MenuItem>
    </Menu>
  );
}
