/** The domain of an address, as it is spelled there. */
export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1);
}
