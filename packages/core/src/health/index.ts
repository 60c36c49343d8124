export { getHealth, type Health, healthStatuses } from './get-health.ts';
