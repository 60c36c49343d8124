import { CodeBlock } from '../../../parts/copy.tsx';
import { SecretDialog } from '../../../parts/dialogs/secret-dialog.tsx';
import { Notice } from '../../../parts/states.tsx';
import { words } from './strings.ts';

const text = words.factor.codes;

/** Shows new recovery codes, which are shown nowhere else. */
export function ShowRecoveryCodes({
  codes,
  onClose,
}: {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}) {
  return (
    <SecretDialog title={text.title} words={text} onClose={onClose}>
      <Notice tone="wait">
        <p>{text.once}</p>
      </Notice>
      <CodeBlock text={codes.join('\n')} what={text.title} />
    </SecretDialog>
  );
}
