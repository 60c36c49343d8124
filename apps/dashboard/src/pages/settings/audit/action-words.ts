import { words } from './strings.ts';

/** Returns an action in words. An entry from another release may have an action that this page does not know. */
export function actionWord(action: string): string {
  return isAction(action) ? words.actions[action] : action;
}

export function isAction(name: string): name is keyof typeof words.actions {
  return Object.hasOwn(words.actions, name);
}

/** The actions of each group, such as those on API keys. */
export const actionGroups = Object.entries(words.groups).map(([prefix, label]) => ({
  label,
  actions: Object.entries(words.actions).filter(([name]) => name.startsWith(`${prefix}.`)),
}));
