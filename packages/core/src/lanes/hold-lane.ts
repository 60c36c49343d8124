const PREFIX = 'held ';

/** The lane in which the mail of a hold is parked. No mail is ever sent from it. */
export function holdLane(hold_id: string): string {
  return PREFIX + hold_id;
}

export function isHoldLane(lane: string): boolean {
  return lane.startsWith(PREFIX);
}
