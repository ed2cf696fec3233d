import type { ProviderName } from "../contract/session.ts";

/** The place of sandboxes that every server on the database can reach. */
const CLUSTER = "kubernetes";

/** The place of this server's sandboxes of a provider: its own machine, or the cluster. */
export function placeOf({ serverId }: { serverId: string }, provider: ProviderName): string {
  return provider === "kubernetes" ? CLUSTER : serverId;
}

/** The places whose sandboxes this server can reach. */
export function placesOf({ serverId }: { serverId: string }): string[] {
  return [serverId, CLUSTER];
}

/** Whether this server can reach a run's sandbox: it cannot on another server's machine. */
export function isWithinReach(server: { serverId: string }, { place }: { place: string }): boolean {
  return placesOf(server).includes(place);
}

/**
 * The queue of one kind of work at a place. `runs` (keys: ids of runs) brings runs to their goal, `secrets` (ids of
 * projects) updates the secrets of running sandboxes, `choices` (ids of sessions) what their agents work with, `prompts` (ids of sessions) delivers queued prompts.
 */
export function queueOf(work: (typeof WORK)[number], place: string): string {
  return `${work}/${place}`;
}

/** Every queue that this server works on. */
export function queuesOf(server: { serverId: string }): string[] {
  return [...placesOf(server).flatMap(queuesOfPlace), APPS_QUEUE];
}

/** The queue that settles apps, on any server. Its keys are ids of apps and of deployments. */
export const APPS_QUEUE = "apps";

/** The name in `changes` under which new jobs of a queue are announced, by any server. */
export function newJobIn(queue: string): string {
  return `job in ${queue}`;
}

/** Every queue of a place. */
export function queuesOfPlace(place: string): string[] {
  return WORK.map((work) => queueOf(work, place));
}

const WORK = ["runs", "secrets", "choices", "prompts"] as const;
