import type { LucideIcon } from 'lucide-react';

export type Tone = 'good' | 'wait' | 'bad' | 'info' | 'calm';

/** Shows a state, always with an icon and a word, never by color alone. */
export function Badge({
  tone,
  icon: Icon,
  children,
  title,
}: {
  readonly tone: Tone;
  readonly icon: LucideIcon;
  readonly children: string;
  /** Explains a word that is often misread. */
  readonly title?: string | undefined;
}) {
  return (
    <span className={`badge ${tone}`} title={title}>
      <Icon size={13} aria-hidden />
      {children}
    </span>
  );
}
