/** Returns the domain of an address, as written. */
export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1);
}
