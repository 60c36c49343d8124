import './mail-preview.css';
import { useState } from 'react';
import { Check, Choices } from './field.tsx';

const words = {
  frame: 'The mail as its reader sees it',
  width: 'Width',
  wide: 'Desktop',
  narrow: 'Phone',
  scheme: 'Theme of the reader',
  light: 'Light',
  dark: 'Dark',
  images: 'Load remote images',
  imagesAbout: 'They tell their server that the mail was opened.',
  noHtml: 'The mail has no HTML part; the text is what its reader sees.',
};

/** Mail is hostile: its frame has its own route, CSP and origin, and runs no script. */
export function MailPreview({ src }: { readonly src: string }) {
  const [width, setWidth] = useState<'wide' | 'narrow'>('wide');
  const [scheme, setScheme] = useState<'light' | 'dark'>('light');
  const [images, setImages] = useState(false);
  return (
    <div className="stack">
      <div className="line spread">
        <div className="line">
          <Choices
            label={words.width}
            options={[
              ['wide', words.wide],
              ['narrow', words.narrow],
            ]}
            value={width}
            onChange={setWidth}
          />
          <Choices
            label={words.scheme}
            options={[
              ['light', words.light],
              ['dark', words.dark],
            ]}
            value={scheme}
            onChange={setScheme}
          />
        </div>
        <Check name="images" label={words.images} about={words.imagesAbout} checked={images} onChange={setImages} />
      </div>
      <iframe
        className={`preview ${width} ${scheme}`}
        sandbox=""
        referrerPolicy="no-referrer"
        title={words.frame}
        src={`${src}?images=${images ? 1 : 0}&scheme=${scheme}`}
      />
    </div>
  );
}

/** Replaces the preview of mail without html. */
export function TextOnly({ text }: { readonly text: string | null }) {
  return (
    <div className="stack">
      <p className="muted small">{words.noHtml}</p>
      <pre className="mail-text">{text}</pre>
    </div>
  );
}
