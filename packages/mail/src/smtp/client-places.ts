import type { SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import type { SharedPlaces } from './shared-places.ts';

type Connect = NonNullable<SMTPServerOptions['onConnect']>;

/**
 * Gives each connection a slot of its network until the connection is closed. A connection without a free slot gets
 * 421.
 */
export class ClientPlaces {
  readonly #places: SharedPlaces;
  readonly #held = new Set<string>();

  constructor(places: SharedPlaces) {
    this.#places = places;
  }

  readonly onConnect: Connect = (session, callback) => {
    if (!this.#places.take(session.remoteAddress)) {
      callback(Object.assign(new Error('Too many connections from your network'), { responseCode: 421 }));
      return;
    }
    this.#held.add(session.id);
    callback();
  };

  onClose({ id, remoteAddress }: SMTPServerSession): void {
    if (this.#held.delete(id)) this.#places.give(remoteAddress);
  }
}
