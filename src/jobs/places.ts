import type { ProviderName } from "../contract/session.ts";

/** Where sandboxes are that every server on the database can see. */
const CLUSTER = "kubernetes";

/** Where this server's sandboxes of a provider are: on its own machine, or in the cluster. */
export function placeOf({ serverId }: { serverId: string }, provider: ProviderName): string {
  return provider === "kubernetes" ? CLUSTER : serverId;
}

/** The places whose sandboxes this server can see. */
export function placesOf({ serverId }: { serverId: string }): string[] {
  return [serverId, CLUSTER];
}

/** Whether a run's sandbox is where this server can see it: another machine's addresses are not this one's. */
export function isWithinReach(server: { serverId: string }, { place }: { place: string }): boolean {
  return placesOf(server).includes(place);
}

/**
 * The queue of one kind of work at a place: `runs` has ids of runs as keys and brings their status to their goal, `secrets`
 * has projects' ids and gives their running sandboxes what was set, `prompts` has sessions' ids and gives their sandboxes
 * what waits to be answered.
 */
export function queueOf(work: (typeof WORK)[number], place: string): string {
  return `${work}/${place}`;
}

/** Every queue that this server does the work of. */
export function queuesOf(server: { serverId: string }): string[] {
  return [...placesOf(server).flatMap(queuesOfPlace), APPS_QUEUE];
}

/** The queue that settles apps, by any server: keys are ids of apps, and of deployments. */
export const APPS_QUEUE = "apps";

/** Every queue of a place. */
export function queuesOfPlace(place: string): string[] {
  return WORK.map((work) => queueOf(work, place));
}

const WORK = ["runs", "secrets", "prompts"] as const;
