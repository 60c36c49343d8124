import type { Checkup } from '@postrider/core/doctor';
import type { Rule, TransportEntry } from '@postrider/core/transports';

export interface Settings {
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly tls: string | undefined;
  readonly password: string | undefined;
  readonly envelope_from: string | undefined;
  readonly signing: string | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** null: no limit. */
  readonly max_connections: number | null | undefined;
  readonly messages_per_minute: number | null | undefined;
  readonly messages_per_day: number | null | undefined;
}

interface NewTransport extends Settings {
  readonly name: string;
  readonly kind: string;
  readonly username: string | undefined;
}

interface TransportChange extends Settings {
  readonly name: string | undefined;
  /** null: no authentication. */
  readonly username: string | null | undefined;
}

/** The API of the transport commands. */
export interface Transports {
  list(): Promise<readonly TransportEntry[]>;
  create(transport: NewTransport): Promise<TransportEntry>;
  update(id: string, change: TransportChange): Promise<TransportEntry>;
  delete(id: string): Promise<void>;
  test(id: string, email: { readonly to: string | undefined; readonly from: string | undefined }): Promise<Checkup>;
  rules(): Promise<readonly Rule[]>;
  setRules(rules: readonly Rule[]): Promise<readonly Rule[]>;
}
