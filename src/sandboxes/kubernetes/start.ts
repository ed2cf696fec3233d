import { setTimeout as sleep } from "node:timers/promises";
import type { V1Pod } from "@kubernetes/client-node";
import { type Sandbox, SandboxError, type SandboxSpec, type StartWatch } from "../provider.ts";
import type { Cluster } from "./cluster.ts";
import { statusOf } from "./failure.ts";
import { findObjects, sandboxOf } from "./found.ts";
import { nameOf, type ObjectsSpec, podOf, policyOf, secretOf, serviceOf } from "./objects.ts";

const POLL_MS = 500;
/** Without a new event or status of the pod: to schedule it, which may need a new node, and to pull a large image. */
const STILL_MS = 15 * 60_000;
const LONGEST_MS = 60 * 60_000;
/** The most consecutive failed requests: the restart of a control plane takes a minute. */
const FAILURES = 120;
/** The most events in the log of one start; a pod that cannot be scheduled has one every few seconds. */
const EVENTS_MAX = 200;

/** Reasons of waiting containers that do not resolve by themselves (kubelet's names). */
const FATAL_REASONS: ReadonlySet<string> = new Set([
  "ErrImageNeverPull",
  "ImageInspectError",
  "ImagePullBackOff",
  "InvalidImageName",
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
]);

/** Creates a sandbox's objects, and waits until its pod runs. Logs the pod's events meanwhile. */
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
  const log = logOnce(watch);
  let failures = 0;
  const beganAt = performance.now();
  let moved = { at: beganAt, seen: "" };
  for (; ; await sleep(POLL_MS, undefined, { signal })) {
    signal.throwIfAborted();
    let pod: V1Pod | null = null;
    try {
      const [found] = await findObjects(cluster, objects.installation, spec.sessionId);
      pod = found?.pod ?? null;
      const events = await logEvents(cluster, nameOf(objects.installation, spec.sessionId), log);
      failures = 0;
      const seen = JSON.stringify([events, pod?.status]);
      if (seen !== moved.seen) moved = { at: performance.now(), seen };
      if (!found || !pod) throw new SandboxError("The sandbox's pod was deleted while it started.");
      const sandbox = sandboxOf(found);
      if (sandbox.state === "ended") {
        throw new SandboxError(
          `The sandbox ended during its start${sandbox.exitCode === null ? "" : `, with exit code ${sandbox.exitCode}`}.`,
        );
      }
      if (pod.status?.containerStatuses?.[0]?.state?.running && sandbox.address) return sandbox;
    } catch (error) {
      const status = statusOf(error);
      const isTransient =
        !(error instanceof SandboxError) && (status === null || status >= 500 || status === 429);
      if (!isTransient || ++failures > FAILURES) throw error;
    }
    if (pod) failIfFatal(pod, log);
    const now = performance.now();
    if (now - moved.at > STILL_MS || now - beganAt > LONGEST_MS)
      throw new SandboxError(`The sandbox's pod did not start: ${reasonOf(pod)}.`);
  }
}

/** Logs each line once. */
function logOnce(watch: StartWatch): (line: string) => void {
  const logged = new Set<string>();
  return (line) => {
    if (logged.has(line) || logged.size >= EVENTS_MAX) return;
    logged.add(line);
    watch.log("svc", line);
  };
}

/** @returns the number of events so far; one that is repeated is the same event */
async function logEvents(cluster: Cluster, pod: string, log: (line: string) => void): Promise<number> {
  const fieldSelector = `involvedObject.kind=Pod,involvedObject.name=${pod}`;
  const { items } = await cluster.core.listNamespacedEvent({ namespace: cluster.namespace, fieldSelector });
  for (const { reason, message } of items) log(`Kubernetes: ${reason ?? "event"}: ${message ?? ""}`);
  return items.length;
}

function failIfFatal(pod: V1Pod, log: (line: string) => void): void {
  const waiting = pod.status?.containerStatuses?.[0]?.state?.waiting;
  if (!waiting?.reason || !waiting.message) return;
  log(`Kubernetes: ${waiting.reason}: ${waiting.message}`);
  if (!FATAL_REASONS.has(waiting.reason)) return;
  const isImage = /image/i.test(waiting.reason);
  throw new SandboxError(
    `The sandbox's ${isImage ? "image cannot be pulled" : "container cannot be created"}: ${waiting.reason}, ${waiting.message}`,
    { permanent: waiting.reason === "InvalidImageName" },
  );
}

function reasonOf(pod: V1Pod | null): string {
  const placed = pod?.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (placed?.status === "False") return placed.message ?? "no node has capacity for it";
  return pod?.status?.containerStatuses?.[0]?.state?.waiting?.reason ?? "the cluster reports no reason";
}
