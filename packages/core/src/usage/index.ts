export { getUsage, type Usage, usageOf } from './get-usage.ts';
export { getMonthUsage, type MonthUsage, readMonthUsages } from './month-usage.ts';
export {
  ADDRESS_LIMIT,
  addressSubject,
  type Counted,
  type RateClass,
  type RateWindow,
  rateRefusal,
  windowOf,
} from './rate-window.ts';
export { countAddress, forgetRateWindows, returnUsage } from './store.ts';
