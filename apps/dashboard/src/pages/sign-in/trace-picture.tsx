import './trace-picture.css';
import { words } from './strings.ts';

/** The steps of a typical delivery, with their start and length as shares of the picture's width. */
const steps = [
  ['accepted', 0, 4],
  ['queued', 4, 10],
  ['connect', 14, 22],
  ['tls', 36, 20],
  ['data', 56, 34],
  ['delivered', 90, 10],
] as const;

/** Shows what the product is about: the trace of an email. */
export function TracePicture() {
  const text = words.picture;
  return (
    <aside className="trace-picture">
      <p className="claim">{text.claim}</p>
      <ol aria-hidden>
        {steps.map(([name, start, length]) => (
          <li key={name}>
            <span>{text.steps[name]}</span>
            <i className={name} style={{ marginLeft: `${start}%`, width: `${length}%` }} />
          </li>
        ))}
      </ol>
      <p className="muted">{text.about}</p>
    </aside>
  );
}
