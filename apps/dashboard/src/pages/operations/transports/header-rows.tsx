import { Plus, X } from 'lucide-react';
import { useId, useRef, useState } from 'react';
import { InvalidForm } from '../../../api/problem.ts';
import { Button } from '../../../parts/button.tsx';
import { words } from './strings.ts';

const text = words.form;
const MAX_HEADERS = 5;

type Headers = Readonly<Record<string, string>>;

/** Edits the headers that a transport adds to every email. */
export function HeaderRows({ headers, problem }: { readonly headers: Headers; readonly problem: string | undefined }) {
  const id = useId();
  const [rows, setRows] = useState(() => Object.entries(headers).map(([name, value], key) => ({ key, name, value })));
  const nextKey = useRef(rows.length);
  const section = useRef<HTMLFieldSetElement>(null);
  const add = () => setRows([...rows, { key: nextKey.current++, name: '', value: '' }]);
  const remove = (key: number) => {
    // The removed row had the focus, which would otherwise return to the top of the page.
    section.current?.querySelector<HTMLElement>('[data-add]')?.querySelector('button')?.focus();
    setRows(rows.filter((row) => row.key !== key));
  };
  const control = {
    className: 'input mono',
    autoComplete: 'off',
    'aria-describedby': problem === undefined ? `${id}-about` : `${id}-about ${id}-problem`,
    'aria-invalid': problem === undefined ? undefined : true,
  };
  return (
    <fieldset className="field" ref={section}>
      <legend>{text.headers}</legend>
      {rows.map(({ key, name, value }, index) => (
        <div key={key} className="line">
          <span className="grow">
            <input
              {...control}
              name="header_name"
              aria-label={text.headerName(index + 1)}
              placeholder={text.headerNameExample}
              defaultValue={name}
              autoFocus={name === ''}
            />
          </span>
          <span className="grow">
            <input
              {...control}
              name="header_value"
              aria-label={text.headerValue(index + 1)}
              placeholder={text.headerValueExample}
              defaultValue={value}
            />
          </span>
          <Button kind="icon plain" label={text.removeHeader(index + 1)} onClick={() => remove(key)}>
            <X size={14} />
          </Button>
        </div>
      ))}
      <p id={`${id}-about`} className="about">
        {text.headersAbout}
      </p>
      {problem !== undefined && (
        <p id={`${id}-problem`} className="problem">
          {problem}
        </p>
      )}
      <span data-add>
        <Button small blocked={rows.length < MAX_HEADERS ? null : text.headersFull} onClick={add}>
          <Plus size={14} /> {text.addHeader}
        </Button>
      </span>
    </fieldset>
  );
}

/** Returns the message about headers, for one header or all of them. */
export function headerProblem(problems: ReadonlyMap<string, string>): string | undefined {
  return [...problems].find(([param]) => param.startsWith('headers'))?.[1];
}

/** Reads the rows, without empty ones. */
export function headersIn(form: FormData): Headers {
  const values = form.getAll('header_value').map((value) => String(value).trim());
  const pairs = form.getAll('header_name').map((name, index) => [String(name).trim(), values[index] ?? ''] as const);
  const filled = pairs.filter(([name, value]) => name !== '' || value !== '');
  const names = filled.map(([name]) => name.toLowerCase());
  const repeated = filled.find(([name], index) => names.indexOf(name.toLowerCase()) < index);
  if (repeated) throw new InvalidForm({ headers: text.headerTwice(repeated[0]) });
  return Object.fromEntries(filled);
}
