import { Download } from 'lucide-react';
import type { Outputs } from '../../api/trpc.ts';
import { inWorkspace } from '../../api/workspace.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { saveAs } from '../../parts/download.ts';
import { MailPreview, TextOnly } from '../../parts/mail-preview.tsx';
import { Facts } from '../../parts/page.tsx';
import { words as parts } from '../../parts/strings.ts';
import { type Tab, Tabs } from '../../parts/tabs.tsx';
import { readCurl, readGraphql, waitCurl } from './as-code.ts';
import { type CaptureTab, captureTabs } from './search.ts';
import { words } from './strings.ts';

type Capture = Outputs['captures']['get'];

// A megabyte of base64 slows down the page and is of no use to readers.
const SHOWN_SOURCE = 64 * 1024;

export function CaptureContent({
  capture,
  tab,
  onTab,
}: {
  readonly capture: Capture;
  readonly tab: CaptureTab;
  readonly onTab: (tab: CaptureTab) => void;
}) {
  return (
    <Tabs
      label={words.detail.content}
      value={tab}
      onChange={onTab}
      tabs={captureTabs.map(
        (name): Tab<CaptureTab> => ({
          name,
          word: words.detail.tabs[name],
          show: () => <TabContent tab={name} capture={capture} />,
        }),
      )}
    />
  );
}

function TabContent({ tab, capture }: { readonly tab: CaptureTab; readonly capture: Capture }) {
  const { html, text, headers } = capture;
  const { tabs, noHtml, noText } = words.detail;
  switch (tab) {
    case 'preview':
      return html === null ? <TextOnly text={text} /> : <MailPreview src={inWorkspace(`/preview/${capture.id}`)} />;
    case 'text':
      return text === null ? <p className="muted">{noText}</p> : <CodeBlock text={text} what={tabs.text} />;
    case 'source':
      return html === null ? <p className="muted">{noHtml}</p> : <CodeBlock text={html} what={tabs.source} />;
    case 'headers':
      // A header name may occur more than once.
      return <Facts rows={headers.map(({ name, value }) => [name, value] as const)} />;
    case 'raw':
      return <Source capture={capture} />;
    case 'code':
      return <AsCode capture={capture} />;
  }
}

function Source({ capture: { id, raw } }: { readonly capture: Capture }) {
  const { tabs, rawCut, save } = words.detail;
  return (
    <div className="stack">
      <div className="line spread">
        <span className="muted small">{raw.length > SHOWN_SOURCE && rawCut(SHOWN_SOURCE / 1024)}</span>
        <Button small onClick={() => saveAs(`${id}.eml`, raw, 'message/rfc822')}>
          <Download size={14} />
          {save}
        </Button>
      </div>
      <CodeBlock text={raw.slice(0, SHOWN_SOURCE)} what={tabs.raw} />
    </div>
  );
}

function AsCode({ capture: { id, to } }: { readonly capture: Capture }) {
  const { curl, wait, graphql } = words.detail;
  return (
    <div className="stack">
      <h3>{curl}</h3>
      <CodeBlock text={readCurl(id)} what={parts.texts.curl} />
      <h3>{wait}</h3>
      <CodeBlock text={waitCurl(to[0] ?? '')} what={parts.texts.waitingCurl} />
      <h3>{graphql}</h3>
      <CodeBlock
        text={`${readGraphql}\n\n${JSON.stringify({ to: to[0] ?? '' }, null, 2)}`}
        what={parts.texts.graphqlRequest}
      />
    </div>
  );
}
