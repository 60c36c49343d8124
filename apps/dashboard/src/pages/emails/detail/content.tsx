import { useQuery } from '@tanstack/react-query';
import { may, useMe } from '../../../api/me.ts';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { inWorkspace } from '../../../api/workspace.ts';
import { CodeBlock } from '../../../parts/copy.tsx';
import { MailPreview, TextOnly } from '../../../parts/mail-preview.tsx';
import { Facts, Panel } from '../../../parts/page.tsx';
import { Notice, QueryView } from '../../../parts/states.tsx';
import { words as parts } from '../../../parts/strings.ts';
import { type Tab, Tabs } from '../../../parts/tabs.tsx';
import { type ContentTab, contentTabs } from '../content-tabs.ts';
import { asCurl, asGraphql } from './as-code.ts';
import { Checks } from './checks.tsx';
import type { Email } from './email.ts';
import { words } from './strings.ts';

type EmailContent = Outputs['emails']['content'];

/** Shows the content of an email. Each read is recorded in the audit log. */
export function Content({
  id,
  tab,
  onTab,
  email,
}: {
  readonly id: string;
  readonly tab: ContentTab;
  readonly onTab: (tab: ContentTab) => void;
  readonly email: Email;
}) {
  const me = useMe();
  const allowed = may(me, 'admin');
  const content = useQuery(
    // Content is read only once because each read is recorded in the audit log.
    trpc.emails.content.queryOptions({ id }, { enabled: allowed, staleTime: 'static', gcTime: 60_000 }),
  );
  return (
    <Panel title={words.content.title}>
      {allowed ? (
        <QueryView query={content}>
          {(data) => (
            <Tabs
              label={words.content.title}
              value={tab}
              onChange={onTab}
              tabs={contentTabs.map(
                (name): Tab<ContentTab> => ({
                  name,
                  word: words.content.tabs[name],
                  show: () => <TabContent tab={name} content={data} email={email} />,
                }),
              )}
            />
          )}
        </QueryView>
      ) : (
        <Notice tone="calm">
          <p>{words.content.denied}</p>
        </Notice>
      )}
    </Panel>
  );
}

function TabContent({
  tab,
  content,
  email,
}: {
  readonly tab: ContentTab;
  readonly content: EmailContent;
  readonly email: Email;
}) {
  const { tabs, noHtml, noText, noHeaders, curl, graphql } = words.content;
  switch (tab) {
    case 'preview':
      return content.html === null ? (
        <TextOnly text={content.text} />
      ) : (
        <MailPreview src={inWorkspace(`/preview/${content.id}`)} />
      );
    case 'text':
      return content.text === null ? (
        <p className="muted">{noText}</p>
      ) : (
        <CodeBlock text={content.text} what={tabs.text} />
      );
    case 'source':
      return content.html === null ? (
        <p className="muted">{noHtml}</p>
      ) : (
        <CodeBlock text={content.html} what={tabs.source} />
      );
    case 'checks':
      return <Checks content={content} subject={email.subject} />;
    case 'headers':
      return Object.keys(content.headers).length === 0 ? (
        <p className="muted">{noHeaders}</p>
      ) : (
        <Facts rows={Object.entries(content.headers)} />
      );
    case 'raw':
      return <CodeBlock text={content.raw} what={tabs.raw} />;
    case 'code':
      return (
        <div className="stack">
          <h3>{curl}</h3>
          <CodeBlock text={asCurl(email, content)} what={parts.texts.curl} />
          <h3>{graphql}</h3>
          <CodeBlock text={asGraphql(email)} what={parts.texts.graphqlRequest} />
        </div>
      );
  }
}
