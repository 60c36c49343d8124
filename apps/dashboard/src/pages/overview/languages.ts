/** Programs that send one email with nothing but their language's standard library. */
export const languages = ['curl', 'typescript', 'python', 'php', 'go'] as const;
export type Language = (typeof languages)[number];
