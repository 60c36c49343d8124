import type { Checkup } from '@postrider/core/doctor';
import type { NewTransportFeedback, TransportFeedback } from '@postrider/core/feedback';
import type { RoutePreview, Rule, TransportEntry, TransportHealth } from '@postrider/core/transports';

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

interface PreviewInput {
  readonly from_domain: string;
  readonly to_domain: string;
  readonly tags: readonly string[];
  readonly priority: string | undefined;
  readonly workspace_id: string | undefined;
  /** undefined: the current rules. */
  readonly rules: readonly Rule[] | undefined;
}

/** The API of the transport commands. */
export interface Transports {
  list(): Promise<readonly TransportEntry[]>;
  create(transport: NewTransport): Promise<TransportEntry>;
  update(id: string, change: TransportChange): Promise<TransportEntry>;
  delete(id: string): Promise<void>;
  test(id: string, email: { readonly to: string | undefined; readonly from: string | undefined }): Promise<Checkup>;
  health(): Promise<readonly TransportHealth[]>;
  rules(): Promise<readonly Rule[]>;
  setRules(rules: readonly Rule[]): Promise<readonly Rule[]>;
  preview(input: PreviewInput): Promise<RoutePreview>;
  /** null: it is not set up. */
  feedback(id: string): Promise<TransportFeedback | null>;
  setFeedback(id: string, provider: string, secret: string | undefined): Promise<NewTransportFeedback>;
  removeFeedback(id: string): Promise<void>;
}
