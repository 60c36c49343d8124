import { CodeBlock } from '../../../parts/copy.tsx';
import { Drawer } from '../../../parts/dialog.tsx';
import { Tabs } from '../../../parts/tabs.tsx';
import { type Language, languages } from '../search.ts';
import { words } from '../strings.ts';
import { fileNames, snippetOf } from './snippets.ts';

/** Explains in five languages how to verify that a request came from this server. */
export function VerifyDrawer({
  format,
  language,
  onLanguage,
  onClose,
}: {
  readonly format: 'postrider' | 'resend';
  readonly language: Language;
  readonly onLanguage: (language: Language) => void;
  readonly onClose: () => void;
}) {
  return (
    <Drawer title={words.verify.title} onClose={onClose}>
      <p>{words.verify.about}</p>
      <Tabs<Language>
        label={words.verify.languages}
        tabs={languages.map((name) => ({
          name,
          word: words.verify.names[name],
          show: () => <CodeBlock text={snippetOf(name, format)} what={fileNames[name]} />,
        }))}
        value={language}
        onChange={onLanguage}
      />
      <p className="muted small">{words.verify.after}</p>
    </Drawer>
  );
}
