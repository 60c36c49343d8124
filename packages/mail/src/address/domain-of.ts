/** Returns the domain of an address as it is written there. */
export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1);
}
