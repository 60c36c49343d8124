/** Returns the status as the dashboard shows it: captured email was delivered only to the test inbox. */
export function statusWord({ status, captured }: { readonly status: string; readonly captured: boolean }): string {
  return status === 'delivered' && captured ? 'captured' : status;
}
