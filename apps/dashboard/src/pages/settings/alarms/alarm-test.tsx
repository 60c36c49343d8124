import { useMutation } from '@tanstack/react-query';
import { CircleAlert, CircleCheck } from 'lucide-react';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { ErrorPanel } from '../../../parts/states.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { words } from './strings.ts';

type Results = Outputs['alarms']['test']['results'];

/** Sends a test alert to the saved destinations, and says what each of them did. */
export function AlarmTest({ access }: { readonly access: Outputs['alarms']['settings']['access'] }) {
  const text = words.test;
  const test = useMutation(
    trpc.alarms.test.mutationOptions({
      onSuccess: ({ results }) => {
        const failed = results.filter(({ accepted }) => !accepted).length;
        if (results.length === 0) toast(text.none, 'bad');
        else if (failed > 0) toast(text.some(failed, results.length), 'bad');
        else toast(text.done(results.length));
      },
    }),
  );
  return (
    <div className="stack">
      <div>
        <Button busy={test.isPending} onClick={() => test.mutate({ access })}>
          {text.send}
        </Button>
      </div>
      <p className="muted small">{text.about}</p>
      {test.error !== null && <ErrorPanel error={test.error} />}
      {test.data && test.data.results.length > 0 && <Outcomes results={test.data.results} />}
    </div>
  );
}

function Outcomes({ results }: { readonly results: Results }) {
  return (
    <ul className="stack-s" aria-label={words.test.title}>
      {results.map(({ kind, destination, accepted, detail }) => (
        <li key={`${kind} ${destination}`} className="line">
          <Badge tone={accepted ? 'good' : 'bad'} icon={accepted ? CircleCheck : CircleAlert}>
            {destination}
          </Badge>
          <span>{detail}</span>
        </li>
      ))}
    </ul>
  );
}
