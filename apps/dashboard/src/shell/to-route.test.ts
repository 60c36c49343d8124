import { describe, expect, it } from 'vitest';
import { toRoute } from './to-route.ts';

const routeOf = (path: string) => {
  const { pathname, search } = toRoute(new URL(path, 'http://localhost'));
  return pathname + search;
};

describe('toRoute', () => {
  it.each([
    ['/', '/'],
    ['/w/wsp_1', '/'],
    ['/w/wsp_1/', '/'],
    ['/w/wsp_1/emails?q=to%3Aada', '/emails?q=to%3Aada'],
    ['/emails/msg_1', '/emails/msg_1'],
    ['/instance/queues/webhook.post', '/instance/queues/webhook.post'],
    ['/w/wsp_1/settings', '/settings/api-keys'],
    ['/w/wsp_1/delivery', '/delivery/backlog'],
    ['/instance', '/instance/status'],
    ['/instance/delivery', '/instance/delivery/backlog'],
  ])('returns the route of %s, which is %s', (path, route) => expect(routeOf(path)).toBe(route));

  it.each([
    ['/inbox/cap_1', '/emails/test-inbox/cap_1'],
    ['/w/wsp_1/compose', '/emails/new'],
    ['/w/wsp_1/stats?range=month&by=provider', '/metrics?range=month&by=provider'],
    ['/w/wsp_1/requests?open=req_1', '/logs?open=req_1'],
    ['/settings/workspace', '/settings/general'],
    ['/settings/alarms', '/settings/alerts'],
    ['/settings/audit?target=dom_1', '/settings/audit-log?target=dom_1'],
    ['/settings/audit?chain=instance', '/instance/audit-log'],
    ['/settings/erasures', '/settings/retention'],
    ['/operations/health', '/settings/alerts'],
    ['/instance/health', '/instance/status'],
    ['/operations/incident?from=1', '/delivery/incidents?from=1'],
    ['/operations/incident?reach=%22instance%22&from=1', '/instance/incidents?from=1'],
    ['/operations/backlog?side=instance', '/instance/delivery/backlog'],
    ['/operations/holds', '/delivery/holds'],
    ['/operations/bulk/blk_1', '/delivery/bulk-actions/blk_1'],
    ['/instance/bulk/blk_1', '/instance/delivery/bulk-actions/blk_1'],
    ['/operations/queues/webhook.post', '/instance/queues/webhook.post'],
    ['/operations', '/instance/status'],
    ['/instance/operations/queues', '/instance/queues'],
    ['/instance/operations/health', '/instance/status'],
  ])('returns the page of the earlier path %s, which is %s', (path, route) => expect(routeOf(path)).toBe(route));
});
