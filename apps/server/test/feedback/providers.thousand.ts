import { testReports } from './provider-reports.ts';
import { openStage } from './stage.ts';

testReports(await openStage(), 1000);
