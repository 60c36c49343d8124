const PREFIX = 'held ';

/** Returns the lane in which messages of a hold are parked. Nothing is ever sent from it. */
export function holdLane(hold_id: string): string {
  return PREFIX + hold_id;
}

export function isHoldLane(lane: string): boolean {
  return lane.startsWith(PREFIX);
}
