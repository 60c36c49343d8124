export type { RateWindow, WindowCount } from '../operation/ports.ts';
export { createAddressCounter } from './address-windows.ts';
export { type BudgetLevel, forgetBudgets, takePoints } from './budget-store.ts';
export { countCalls } from './count-calls.ts';
export { getUsage, usageOf, usageSchema } from './get-usage.ts';
export { getMonthUsage, type MonthUsage, monthUsageOf, monthUsageSchema, readMonthUsages } from './month-usage.ts';
export { type OpenStream, openStream } from './open-stream.ts';
export { type PlanUse, planUseOf, requireRoomInPlan } from './plan-limits.ts';
export {
  budgetRefusal,
  type Charge as Charged,
  chargeOf,
  chargeQuery,
  createQueryRefunds,
  QUERY_BUDGET,
  type QueryRefunds,
  spenderOf,
} from './query-budget.ts';
export {
  ADDRESS_LIMIT,
  addressSubject,
  judgeRate,
  type KeyPlaces,
  type KeyRateClass,
  rateRefusal,
  SESSION_LIMIT,
  windowOf,
} from './rate-window.ts';
export { readPlanUses } from './read-plan-uses.ts';
export { countSend, forgetRateWindows, returnUsage } from './store.ts';
