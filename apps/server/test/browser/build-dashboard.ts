import { setTimeout as pause } from 'node:timers/promises';
import { silentLog } from '@postrider/core';
import { openDashboard } from '../../src/dashboard-build.ts';

/** Builds the dashboard once for all test files, as `npm start` does. */
export default async function setup(): Promise<void> {
  const dashboard = openDashboard(true, silentLog);
  while (dashboard.current().kind === 'building') await pause(100);
  const state = dashboard.current();
  if (state.kind === 'failed') throw new Error(`The dashboard could not be built:\n${state.why}`);
}
