import type { ReactNode } from 'react';
import { useEffect } from 'react';
import icon from '../../style/icon.svg';
import { TracePicture } from './trace-picture.tsx';

/** Lays out pages without a session. */
export function SignedOut({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Postrider`;
  }, [title]);
  return (
    <div className="signed-out">
      <main>
        <span className="brand">
          <img src={icon} alt="" width={26} height={26} />
          Postrider
        </span>
        <h1>{title}</h1>
        {children}
      </main>
      <TracePicture />
    </div>
  );
}
