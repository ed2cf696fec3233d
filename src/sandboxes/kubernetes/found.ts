import type { KubernetesObject, V1Pod, V1Service } from "@kubernetes/client-node";
import { DAEMON_PORT } from "../../contract/daemon.ts";
import { UUID } from "../../contract/id.ts";
import type { Sandbox } from "../provider.ts";
import type { Cluster } from "./cluster.ts";
import { LABELS } from "./objects.ts";

/** The objects of one session's sandbox in the cluster. */
export interface Found {
  sessionId: string;
  pod: V1Pod | null;
  service: V1Service | null;
  hasSecret: boolean;
  hasPolicy: boolean;
}

/** Lists the objects of an installation, or of one of its sessions. */
export async function findObjects(
  { core, networking, namespace }: Cluster,
  installation: string,
  sessionId?: string,
): Promise<Found[]> {
  const session = sessionId === undefined ? LABELS.session : `${LABELS.session}=${sessionId}`;
  const query = { namespace, labelSelector: `${LABELS.installation}=${installation},${session}` };
  // without a limit the list is complete
  const [pods, services, secrets, policies] = await Promise.all([
    core.listNamespacedPod(query),
    core.listNamespacedService(query),
    core.listNamespacedSecret(query),
    networking.listNamespacedNetworkPolicy(query),
  ]);
  const found = new Map<string, Found>();
  const of = (object: KubernetesObject): Found | null => {
    const id = object.metadata?.labels?.[LABELS.session] ?? "";
    if (!UUID.test(id)) return null;
    const made = found.get(id) ?? {
      sessionId: id,
      pod: null,
      service: null,
      hasSecret: false,
      hasPolicy: false,
    };
    found.set(id, made);
    return made;
  };
  for (const pod of pods.items) Object.assign(of(pod) ?? {}, { pod });
  for (const service of services.items) Object.assign(of(service) ?? {}, { service });
  for (const secret of secrets.items) Object.assign(of(secret) ?? {}, { hasSecret: true });
  for (const policy of policies.items) Object.assign(of(policy) ?? {}, { hasPolicy: true });
  return [...found.values()];
}

/** The state of a sandbox, from its pod and service. */
export function sandboxOf({ sessionId, pod, service }: Found): Sandbox {
  const generation = Number(pod?.metadata?.labels?.[LABELS.generation] ?? Number.NaN);
  const phase = pod?.status?.phase;
  const terminated = pod?.status?.containerStatuses?.[0]?.state?.terminated;
  const hostname = service?.spec?.clusterIP;
  const hasEnded = !pod || phase === "Succeeded" || phase === "Failed" || Boolean(terminated);
  return {
    sessionId,
    generation: Number.isSafeInteger(generation) ? generation : null,
    address: hasEnded || !hostname || hostname === "None" ? null : { hostname, port: DAEMON_PORT },
    state: hasEnded ? "ended" : "running",
    exitCode: terminated?.exitCode ?? null,
    outOfMemory: terminated?.reason === "OOMKilled",
  };
}
