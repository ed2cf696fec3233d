import { setTimeout as sleep } from "node:timers/promises";
import type { V1Pod } from "@kubernetes/client-node";
import { type Sandbox, SandboxError, type SandboxSpec, type StartWatch } from "../provider.ts";
import type { Cluster } from "./cluster.ts";
import { statusOf } from "./failure.ts";
import { findObjects, sandboxOf } from "./found.ts";
import { nameOf, type ObjectsSpec, podOf, policyOf, secretOf, serviceOf } from "./objects.ts";

const POLL_MS = 500;
/** To find a node, which may have to be made first, and to pull a large image onto it. */
const START_MS = 15 * 60_000;
/** Questions that may fail one after the other while a pod starts: a control plane that restarts takes a minute. */
const FAILURES = 120;
/** Events that are shown of one start; a pod that cannot be placed has one every few seconds. */
const EVENTS_MAX = 200;

/** Reasons for which a container waits that do not go away by themselves (kubelet's names). */
const HOPELESS: ReadonlySet<string> = new Set([
  "ErrImageNeverPull",
  "ImageInspectError",
  "ImagePullBackOff",
  "InvalidImageName",
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
]);

/** Makes a sandbox's objects, and waits until its pod runs. What goes on with the pod is told as it happens. */
export async function startPod(
  cluster: Cluster,
  spec: SandboxSpec,
  objects: ObjectsSpec,
  watch: StartWatch,
  signal: AbortSignal,
): Promise<Sandbox> {
  const { core, networking, namespace } = cluster;
  // the policy first: a pod without one reaches everything
  const steps = [
    () => networking.createNamespacedNetworkPolicy({ namespace, body: policyOf(objects) }),
    () => core.createNamespacedSecret({ namespace, body: secretOf(objects) }),
    () => core.createNamespacedService({ namespace, body: serviceOf(objects) }),
    () => core.createNamespacedPod({ namespace, body: podOf(objects) }),
  ];
  for (const step of steps) {
    signal.throwIfAborted();
    await step();
  }
  const tell = teller(watch);
  let failures = 0;
  for (const end = performance.now() + START_MS; ; await sleep(POLL_MS, undefined, { signal })) {
    signal.throwIfAborted();
    let pod: V1Pod | null = null;
    try {
      const [found] = await findObjects(cluster, objects.installation, spec.sessionId);
      pod = found?.pod ?? null;
      await tellEvents(cluster, nameOf(objects.installation, spec.sessionId), tell);
      failures = 0;
      if (!found || !pod) throw new SandboxError("The sandbox's pod was deleted while it started.");
      const sandbox = sandboxOf(found);
      if (sandbox.state === "ended") {
        throw new SandboxError(
          `The sandbox ended as it started${sandbox.exitCode === null ? "" : `, with exit code ${sandbox.exitCode}`}.`,
        );
      }
      if (pod.status?.containerStatuses?.[0]?.state?.running && sandbox.address) return sandbox;
    } catch (error) {
      const status = statusOf(error);
      const isPassing =
        !(error instanceof SandboxError) && (status === null || status >= 500 || status === 429);
      if (!isPassing || ++failures > FAILURES) throw error;
    }
    if (pod) refuseHopeless(pod, tell);
    if (performance.now() > end) throw new SandboxError(`The sandbox's pod does not start: ${whyNot(pod)}.`);
  }
}

/** Says each line once. */
function teller(watch: StartWatch): (line: string) => void {
  const told = new Set<string>();
  return (line) => {
    if (told.has(line) || told.size >= EVENTS_MAX) return;
    told.add(line);
    watch.log("svc", line);
  };
}

async function tellEvents(cluster: Cluster, pod: string, tell: (line: string) => void): Promise<void> {
  const fieldSelector = `involvedObject.kind=Pod,involvedObject.name=${pod}`;
  const { items } = await cluster.core.listNamespacedEvent({ namespace: cluster.namespace, fieldSelector });
  for (const { reason, message } of items) tell(`Kubernetes: ${reason ?? "event"}: ${message ?? ""}`);
}

function refuseHopeless(pod: V1Pod, tell: (line: string) => void): void {
  const waiting = pod.status?.containerStatuses?.[0]?.state?.waiting;
  if (!waiting?.reason || !waiting.message) return;
  tell(`Kubernetes: ${waiting.reason}: ${waiting.message}`);
  if (!HOPELESS.has(waiting.reason)) return;
  const isImage = /image/i.test(waiting.reason);
  throw new SandboxError(
    `The sandbox's ${isImage ? "image cannot be had" : "container cannot be made"}: ${waiting.reason}, ${waiting.message}`,
    { permanent: waiting.reason === "InvalidImageName" },
  );
}

function whyNot(pod: V1Pod | null): string {
  const placed = pod?.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (placed?.status === "False") return placed.message ?? "no node has room for it";
  return pod?.status?.containerStatuses?.[0]?.state?.waiting?.reason ?? "the cluster does not say why";
}
