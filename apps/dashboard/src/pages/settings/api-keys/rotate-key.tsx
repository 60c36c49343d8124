import { nowMs } from '../../../api/clock.ts';
import { client } from '../../../api/trpc.ts';
import { calls } from '../../../parts/calls/api-calls.ts';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { exactTime, inUtc } from '../../../parts/times.tsx';
import type { Key } from './key.ts';
import { ShowSecret } from './show-secret.tsx';
import { words } from './strings.ts';

const OVERLAP_MS = 86_400_000;

const overlap = () => words.secret.overlap(exactTime(new Date(nowMs() + OVERLAP_MS).toISOString(), inUtc.get()));

export function RotateKey({ apiKey: { id, name }, onClose }: { readonly apiKey: Key; readonly onClose: () => void }) {
  return (
    <FormDialog
      title={words.rotating.title(name)}
      about={words.rotating.about}
      submit={words.rotating.submit}
      call={calls.rotateKey(id)}
      run={() => client.apiKeys.rotate.mutate({ key_id: id })}
      next={(key) => <ShowSecret made={key} note={overlap()} onClose={onClose} />}
      onClose={onClose}
    />
  );
}
