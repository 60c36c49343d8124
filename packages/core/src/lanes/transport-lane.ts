import { DEFAULT_TRANSPORT, VIA } from '../transports/index.ts';

/** Returns the lane of a destination through a transport. Email through the default one has the destination's name. */
export function transportLane(destination: string, transport_id: string): string {
  return transport_id === DEFAULT_TRANSPORT ? destination : destination + VIA + transport_id;
}

export function transportOfLane(lane: string): string {
  const at = lane.indexOf(VIA);
  return at < 0 ? DEFAULT_TRANSPORT : lane.slice(at + VIA.length);
}

export function destinationOfLane(lane: string): string {
  const at = lane.indexOf(VIA);
  return at < 0 ? lane : lane.slice(0, at);
}
