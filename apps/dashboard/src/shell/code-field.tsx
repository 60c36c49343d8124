import { Field } from '../parts/field.tsx';
import { words } from './strings.ts';

/** Asks for a code of the second factor: six digits of the app, or a recovery code. */
export function CodeField({ problem }: { readonly problem?: string | undefined }) {
  return (
    <Field label={words.session.code} name="code" about={words.session.codeAbout} problem={problem}>
      {(control) => (
        <input
          {...control}
          className="input"
          autoComplete="one-time-code"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={100}
          required
          autoFocus
        />
      )}
    </Field>
  );
}
