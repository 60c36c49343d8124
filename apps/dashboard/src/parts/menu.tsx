import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from 'react';
import { refusalOf, type Scope, useMe } from '../api/me.ts';
import { placeBeside } from './floating.ts';

/** Renders a button that opens a menu, built as a native popover with menu keyboard controls. */
export function Menu({
  button,
  className = 'button',
  label,
  children,
}: {
  readonly button: ReactNode;
  readonly className?: string;
  readonly label: string;
  readonly children: ReactNode;
}) {
  const id = useId();
  const opener = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = menu.current;
    if (!element) return;
    const toggled = (event: ToggleEvent) => {
      const open = event.newState === 'open';
      opener.current?.setAttribute('aria-expanded', String(open));
      if (!open || !opener.current) return;
      placeBeside(opener.current, element);
      itemsOf(element)[0]?.focus();
    };
    element.addEventListener('toggle', toggled);
    return () => element.removeEventListener('toggle', toggled);
  }, []);
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const items = itemsOf(event.currentTarget);
    const at = document.activeElement instanceof HTMLElement ? items.indexOf(document.activeElement) : -1;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === 'Tab') event.currentTarget.hidePopover();
    if (to === undefined) return;
    event.preventDefault();
    items.at(to % Math.max(1, items.length))?.focus();
  };
  return (
    <>
      <button
        ref={opener}
        type="button"
        className={className}
        popoverTarget={id}
        aria-haspopup="menu"
        aria-expanded="false"
        aria-label={label}
      >
        {button}
      </button>
      <div
        ref={menu}
        id={id}
        className="menu"
        popover="auto"
        role="menu"
        aria-label={label}
        tabIndex={-1}
        onKeyDown={onKeyDown}
      >
        {children}
      </div>
    </>
  );
}

function itemsOf(menu: HTMLElement): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>('[role^="menuitem"]')];
}

export function MenuItem({
  children,
  onSelect,
  checked,
  stays = false,
  needs,
  blocked = null,
}: {
  readonly children: ReactNode;
  readonly onSelect: () => void;
  /** Whether the option is selected. If set, the item is one of several choices. */
  readonly checked?: boolean;
  readonly stays?: boolean;
  /** Users without this scope still see the item, with the reason why it is disabled. */
  readonly needs?: Scope | undefined;
  /** Why the item is currently disabled. It stays visible and shows the reason. */
  readonly blocked?: string | null;
}) {
  const me = useMe();
  const id = useId();
  const reason = (needs ? refusalOf(me, needs) : null) ?? blocked;
  return (
    <button
      type="button"
      className="item"
      role={checked === undefined ? 'menuitem' : 'menuitemradio'}
      aria-checked={checked}
      aria-disabled={reason !== null || undefined}
      // The reason is the item's description, not part of its name.
      aria-labelledby={reason === null ? undefined : `${id}name`}
      aria-describedby={reason === null ? undefined : `${id}why`}
      tabIndex={-1}
      onClick={(event) => {
        if (reason !== null) return;
        const menu = event.currentTarget.closest<HTMLElement>('[popover]');
        if (!stays) menu?.hidePopover();
        onSelect();
      }}
    >
      {reason === null ? (
        children
      ) : (
        <>
          <span id={`${id}name`}>{children}</span>
          <span id={`${id}why`} className="about">
            {reason}
          </span>
        </>
      )}
    </button>
  );
}
