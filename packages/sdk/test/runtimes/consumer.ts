// This program is compiled but never run. It checks the declarations under each moduleResolution.
import { ApiError, type LogEntry, Postrider, type Result, type SendRequest, safe, verifyWebhook } from '@postrider/sdk';

const postrider = new Postrider({ key: 'pr_test_x', url: 'http://localhost:3000' });
const mail: SendRequest = { from: 'a@b.test', to: ['c@d.test'], subject: 's', text: 't', attachments: [] };

export async function useAll(): Promise<string[]> {
  const { id } = await postrider.email.send(mail, { idempotency_key: 'k', signal: AbortSignal.timeout(1) });
  const result: Result<{ status: string }> = await safe(postrider.email.get(id));
  if (result.error instanceof ApiError) return [result.error.code, result.error.request_id];
  const entries: LogEntry[] = (await postrider.email.logs({ status: 'bounced', limit: 2 })).data;
  for await (const entry of postrider.email.logs({ tag: 'a' })) entries.push(entry);
  const event = await verifyWebhook('{}', {}, 'whsec_');
  if (event.type === 'email.bounced') return [event.data.response ?? '', event.data.recipient?.email ?? ''];
  return entries.map((entry) => entry.subject);
}
