import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listenHttp } from './listen-http.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs `npm run audit` against a registry that sends the same response to every request. */
async function auditWith(respond: (response: ServerResponse) => void) {
  const registry = await listenHttp((_request, response) => respond(response));
  onTestFinished(() => registry.stop());
  const env = { ...process.env, npm_config_registry: registry.url, npm_config_fetch_retries: '0' };
  const child = spawn(process.execPath, ['scripts/audit.mjs'], { cwd: root, env });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, out, err };
}

describe('npm run audit', () => {
  it('fairness L6: fails if the registry has no advisories at all, and reports that nothing was checked', async () => {
    const { code, err } = await auditWith((response) => response.writeHead(503).end('{}'));

    expect(err).toMatch(/^Nothing was checked: the registry gave no advisories \(.+\)\./);
    expect(code).toBe(1);
  });

  it('succeeds if the registry has no advisories for the locked versions', async () => {
    const { code, out } = await auditWith((response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
    );

    expect(out).toContain('0 packages with advisories');
    expect(code).toBe(0);
  });
});
