import { Link } from '@tanstack/react-router';
import type { Outputs } from '../../../api/trpc.ts';
import { Panel } from '../../../parts/page.tsx';
import { bytes } from '../../../parts/sizes.ts';
import { Notice } from '../../../parts/states.tsx';
import { words } from './strings.ts';

type Retention = Outputs['workspaces']['retention'];

/** Shows whether email leaves the machine, which is a setting of the instance. */
export function DeliveryMode({ retention }: { readonly retention: Retention }) {
  const { delivery, captured_bytes } = retention;
  const captures = delivery.includes('capture');
  const text = words.capture;
  return (
    <Panel title={text.title}>
      <div className="stack-s">
        <Notice tone={captures ? 'wait' : 'good'}>
          <p>{captures ? text.on : text.off(delivery.map((kind) => text.ways[kind]))}</p>
        </Notice>
        <p className="muted small">
          {text.about(bytes(captured_bytes))} <Link to="/emails/test-inbox">{text.inbox}</Link>
        </p>
      </div>
    </Panel>
  );
}
