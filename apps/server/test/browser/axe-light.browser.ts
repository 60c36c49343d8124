import { describe } from 'vitest';
import { describeTheme } from './axe-theme.ts';

describe('the light theme', () => describeTheme('light', null));
