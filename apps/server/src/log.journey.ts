import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** Returns the stderr output of a process that logs this error. */
async function logged(error: string): Promise<unknown> {
  const program = `
    import { createLog } from './log.ts';
    createLog({ LOG_LEVEL: 'info', LOG_FORMAT: 'json' }, false).error({ err: ${error} }, 'failed');`;
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: import.meta.dirname,
  });
  return JSON.parse(stderr).err;
}

it('the log shows an error and its code, without the data quoted in the error', async () => {
  const error = `Object.assign(new Error('deadlock detected'), { code: '40P01', detail: 'a row' })`;
  expect(await logged(error)).toEqual({
    type: 'Error',
    message: 'deadlock detected',
    code: '40P01',
    stack: expect.stringMatching(/^Error: deadlock detected\n/),
  });
});

it('the log shows the cause of an error', async () => {
  expect(await logged(`new TypeError('outer', { cause: new RangeError('inner') })`)).toMatchObject({
    type: 'TypeError',
    message: 'outer',
    cause: { type: 'RangeError', message: 'inner' },
  });
});

it('the log shows any value other than an error as text', async () => {
  expect(await logged('42')).toBe('42');
});
