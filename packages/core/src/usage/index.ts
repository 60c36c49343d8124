export { type Counted, type RateClass, type RateWindow, rateRefusal, windowOf } from './rate-window.ts';
export { countAddress, forgetRateWindows } from './store.ts';
