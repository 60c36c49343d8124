import { client } from '../../../api/trpc.ts';
import { calls } from '../../../parts/calls/api-calls.ts';
import { SameByApi } from '../../../parts/calls/same-by-api.tsx';
import { nowMs } from '../../../parts/clock.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { ErrorPanel } from '../../../parts/states.tsx';
import { exactTime, inUtc } from '../../../parts/times.tsx';
import { useSecret } from '../../../parts/use-secret.ts';
import type { Key, MadeKey } from './key.ts';
import { ShowSecret } from './show-secret.tsx';
import { words } from './strings.ts';

const OVERLAP_MS = 86_400_000;

export function RotateKey({
  apiKey,
  onClose,
  onMade,
}: {
  readonly apiKey: Key;
  readonly onClose: () => void;
  readonly onMade: () => void;
}) {
  const secret = useSecret<MadeKey>();
  if (secret.made) {
    const until = exactTime(new Date(nowMs() + OVERLAP_MS).toISOString(), inUtc.get());
    const close = () => {
      onMade();
      onClose();
    };
    return <ShowSecret made={secret.made} note={words.secret.overlap(until)} onClose={close} />;
  }
  return (
    <Dialog title={words.rotating.title(apiKey.name)} onClose={onClose}>
      {secret.error !== null && <ErrorPanel error={secret.error} />}
      <p>{words.rotating.about}</p>
      <div className="actions">
        <button type="button" className="button" onClick={onClose}>
          {words.dialog.cancel}
        </button>
        <button
          type="button"
          className="button primary"
          aria-busy={secret.busy}
          onClick={() => secret.run(() => client.apiKeys.rotate.mutate({ key_id: apiKey.id }))}
        >
          {words.rotating.submit}
        </button>
      </div>
      <SameByApi call={calls.rotateKey(apiKey.id)} />
    </Dialog>
  );
}
