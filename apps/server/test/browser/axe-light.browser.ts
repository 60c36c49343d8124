import { describe } from 'vitest';
import { describeTheme } from './axe-theme.ts';

// A window of 1,280 pixels is 640 wide at a zoom of 200 %.
describe('the light theme', () => describeTheme('light', { rules: null, widths: [640, 320] }));
