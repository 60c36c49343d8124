const PREFIX = 'held ';

/** Where mail of a hold is parked: beside all lanes, and nothing is ever sent from there. */
export function roomOf(hold_id: string): string {
  return PREFIX + hold_id;
}

export function isRoom(lane: string): boolean {
  return lane.startsWith(PREFIX);
}
