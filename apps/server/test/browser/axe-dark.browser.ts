import { describe, inject } from 'vitest';
import { describeTheme } from './axe-theme.ts';

/** Only colors differ from the light theme; `npm run test:browser -- --all` asks for every rule in both. */
const RULES = inject('leaves_nothing_out') ? null : ['color-contrast'];

describe('the dark theme', () => describeTheme('dark', { rules: RULES, widths: [] }));
