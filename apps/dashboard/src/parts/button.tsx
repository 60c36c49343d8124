import { type ReactNode, useId, useRef } from 'react';
import { refusalOf, type Scope, useMe } from '../api/me.ts';
import { placeBeside } from './floating.ts';

export interface ButtonProps {
  readonly children: ReactNode;
  readonly onClick?: () => void;
  readonly kind?: 'primary' | 'danger' | 'danger primary' | 'plain' | 'icon plain' | 'normal';
  readonly small?: boolean;
  readonly type?: 'button' | 'submit';
  readonly label?: string;
  readonly busy?: boolean;
  /** Users without this scope still see the button, with the reason why it is disabled. */
  readonly needs?: Scope;
  /** Why the button is currently disabled. It stays visible and shows the reason. */
  readonly blocked?: string | null;
}

export function Button(props: ButtonProps) {
  const { children, onClick, kind = 'normal', small = false, type = 'button', label, busy = false } = props;
  const me = useMe();
  const reason = (props.needs ? refusalOf(me, props.needs) : null) ?? props.blocked ?? null;
  const stopped = reason !== null || busy;
  const button = (
    <button
      // A disabled button must not submit its form.
      type={stopped ? 'button' : type}
      className={`button ${kind === 'normal' ? '' : kind} ${small ? 's' : ''}`}
      aria-label={label}
      title={reason === null ? label : undefined}
      aria-disabled={stopped || undefined}
      aria-busy={busy || undefined}
      onClick={stopped ? undefined : onClick}
    >
      {children}
    </button>
  );
  return reason === null ? button : <Hint text={reason}>{button}</Hint>;
}

/** Shows a tooltip for pointer, keyboard, and screen reader users. */
export function Hint({ text, children }: { readonly text: string; readonly children: ReactNode }) {
  const id = useId();
  const hint = useRef<HTMLSpanElement>(null);
  const show = (event: { readonly currentTarget: HTMLElement }) => {
    const inner = event.currentTarget.firstElementChild;
    if (!hint.current || !inner) return;
    inner.setAttribute('aria-describedby', id);
    if (!hint.current.matches(':popover-open')) hint.current.showPopover();
    placeBeside(inner, hint.current);
  };
  const hide = () => {
    if (hint.current?.matches(':popover-open')) hint.current.hidePopover();
  };
  return (
    <span
      onPointerEnter={show}
      onPointerLeave={hide}
      onFocus={show}
      onBlur={hide}
      onKeyDown={(event) => event.key === 'Escape' && hide()}
    >
      {children}
      <span ref={hint} id={id} className="hint" popover="manual" role="tooltip">
        {text}
      </span>
    </span>
  );
}
