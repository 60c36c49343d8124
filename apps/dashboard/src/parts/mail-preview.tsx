import './mail-preview.css';
import { useState } from 'react';
import { Check, Choices } from './field.tsx';
import { words } from './strings.ts';

/**
 * Shows an email in a frame. Email content is hostile, so the frame has its own route, CSP, and origin, and runs no
 * scripts.
 */
export function MailPreview({ src }: { readonly src: string }) {
  const [width, setWidth] = useState<'wide' | 'narrow'>('wide');
  const [scheme, setScheme] = useState<'light' | 'dark'>('light');
  const [images, setImages] = useState(false);
  return (
    <div className="stack">
      <div className="line spread">
        <div className="line">
          <Choices
            label={words.preview.width}
            options={[
              ['wide', words.preview.wide],
              ['narrow', words.preview.narrow],
            ]}
            value={width}
            onChange={setWidth}
          />
          <Choices
            label={words.preview.scheme}
            options={[
              ['light', words.preview.light],
              ['dark', words.preview.dark],
            ]}
            value={scheme}
            onChange={setScheme}
          />
        </div>
        <Check
          name="images"
          label={words.preview.images}
          about={words.preview.imagesAbout}
          checked={images}
          onChange={setImages}
        />
      </div>
      <iframe
        className={`preview ${width} ${scheme}`}
        sandbox=""
        referrerPolicy="no-referrer"
        title={words.preview.frame}
        src={`${src}?images=${images ? 1 : 0}&scheme=${scheme}`}
      />
    </div>
  );
}

/** Shows the text of an email that has no HTML to preview. */
export function TextOnly({ text }: { readonly text: string | null }) {
  return (
    <div className="stack">
      <p className="muted small">{words.preview.noHtml}</p>
      <pre className="mail-text">{text}</pre>
    </div>
  );
}
