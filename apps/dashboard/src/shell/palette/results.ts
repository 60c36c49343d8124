import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { defaultFilter } from 'cmdk';
import { BookOpen, CornerDownRight } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useMe } from '../../api/me.ts';
import { type Outputs, trpc } from '../../api/trpc.ts';
import { hrefOf } from '../paths.ts';
import { words } from '../strings.ts';
import { actionCommands, type Command, destinationCommands, pageCommands } from './commands.ts';

export type AddressSummary = Outputs['addresses']['summary'];

export interface Results {
  /** Whether results for the current text are still on their way. */
  readonly waiting: boolean;
  readonly commands: readonly Command[];
  /** Whether the text names a command so well that commands come before records. */
  readonly named: boolean;
  /** What is known about the address that the text is. */
  readonly address: AddressSummary | null;
  readonly records: readonly Command[];
  readonly docs: readonly Command[];
}

const MIN_LENGTH = 2;
const PAUSE_MS = 150;
const MIN_SCORE = 0.02;
/** A command whose words begin with the text has at least this score. */
const NAMED_SCORE = 0.5;
const MAX_COMMANDS = 8;
const ADDRESS = /^[^\s@<>]+@[^\s@<>]+\.[^\s@<>.]+$/;

/** Finds pages, actions, records and documentation. Records are requested after a pause in typing. */
export function useResults(text: string): Results {
  const term = text.trim();
  const query = useRested(term);
  const { commands, named } = useCommands(term);
  const enabled = query.length >= MIN_LENGTH && query === term;
  const is_address = ADDRESS.test(query);
  const { history } = useRouter();
  const records = useQuery(trpc.find.queryOptions({ text: query, limit: 12 }, { enabled }));
  const docs = useQuery(trpc.docs.search.queryOptions({ text: query, limit: 4 }, { enabled: enabled && !is_address }));
  const summary = useQuery(trpc.addresses.summary.queryOptions({ email: query }, { enabled: enabled && is_address }));
  const address = (enabled && is_address && summary.data) || null;
  const hits = enabled ? (records.data?.data ?? []) : [];
  return {
    waiting: term.length >= MIN_LENGTH && (!enabled || records.isPending || docs.isLoading || summary.isLoading),
    commands,
    named,
    address,
    records: hits
      .filter(({ type, id }) => !(address && isOnCard(address, type, id)))
      .map(({ type, id, title, detail, path }) => ({
        id: `${type} ${id}`,
        word: title,
        also: '',
        about: [words.palette.types[type], detail].filter(Boolean).join(', '),
        icon: CornerDownRight,
        run: () => history.push(hrefOf(path)),
      })),
    docs: (enabled ? (docs.data?.data ?? []) : []).map(({ title, heading, path }) => ({
      id: `doc ${path}`,
      word: heading === title ? title : `${title} › ${heading}`,
      also: '',
      about: words.palette.doc,
      icon: BookOpen,
      run: () => location.assign(path),
    })),
  };
}

function isOnCard({ suppression, emails }: AddressSummary, type: string, id: string): boolean {
  return (
    (type === 'suppression' && suppression?.id === id) || (type === 'email' && emails.some((one) => one.id === id))
  );
}

/** Returns the pages and actions that the text names, best first. Without a text, all of them. */
function useCommands(term: string): Pick<Results, 'commands' | 'named'> {
  const me = useMe();
  const navigate = useNavigate();
  const { history } = useRouter();
  const push = (path: string) => history.push(hrefOf(path));
  const all = [...pageCommands(me, navigate), ...actionCommands(me, navigate, push)];
  if (term === '') return { commands: all, named: true };
  const scored = all
    .map((command) => ({ command, score: defaultFilter(command.word, term, command.also.split(', ')) }))
    .filter(({ score }) => score >= MIN_SCORE)
    .sort((left, right) => right.score - left.score);
  const on_destination = destinationCommands(me, term, push);
  return {
    commands: [...on_destination, ...scored.slice(0, MAX_COMMANDS).map(({ command }) => command)],
    named: (on_destination.length > 0 && /^hold\s/i.test(term)) || (scored[0]?.score ?? 0) >= NAMED_SCORE,
  };
}

/** Returns the text after a pause in typing. */
function useRested(term: string): string {
  const [rested, setRested] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setRested(term), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [term]);
  return rested;
}
