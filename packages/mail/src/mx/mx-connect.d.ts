/** The parts we use of a package that ships no types. */
declare module 'mx-connect' {
  export interface Delivery {
    readonly mx: readonly {
      readonly exchange: string;
      readonly priority: number;
      readonly A: readonly string[];
      readonly AAAA: readonly string[];
    }[];
    readonly blockedAddresses: readonly { readonly exchange: string; readonly ip: string; readonly reason: string }[];
  }

  export default function mxConnect(options: {
    readonly target: string;
    readonly dnsOptions: { resolveRecords(name: string, type: string): Promise<readonly unknown[]> };
    connectHook(delivery: Delivery, options: unknown, done: (error: Error | null) => void): void;
  }): Promise<unknown>;
}
