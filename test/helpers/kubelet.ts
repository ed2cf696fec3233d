import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Kind, KubernetesObject } from "./kubernetes-api.ts";
import { allProcesses } from "./processes.ts";

/** Runs the pods of the stand-in for an API server as processes of this machine, and reports their status like a kubelet. */
export interface Kubelet {
  run(pod: KubernetesObject): void;
  /** SIGTERM, then SIGKILL for all that is left. */
  end(pod: KubernetesObject, graceSeconds: number): Promise<void>;
  log(name: string): Buffer | null;
  /** Processes of a pod. */
  processes(uid: string): string[];
  stop(): Promise<void>;
}

/** Images that determine the outcome of a pod. */
export const IMAGES = {
  fine: "registry.example/svc/sandbox:1",
  missing: "registry.example/svc/missing:1",
  unplaceable: "registry.example/svc/unplaceable:1",
  greedy: "registry.example/svc/greedy:1",
} as const;

const LOG_MAX_BYTES = 16 * 1024 * 1024;

interface Running {
  child: Bun.Subprocess;
  folder: string;
  log: Buffer[];
  bytes: number;
}

export function startKubelet(
  binaries: string,
  objects: (kind: Kind) => KubernetesObject[],
  onEvent: (event: KubernetesObject) => void,
): Kubelet {
  const running = new Map<string, Running>();
  const markOf = (uid: string) => `POD_UID=${uid}`;
  const marked = (uid: string) =>
    allProcesses().filter(({ environment }) => environment.includes(markOf(uid)));

  function say(pod: KubernetesObject, reason: string, message: string): void {
    onEvent({ involvedObject: { kind: "Pod", name: pod.metadata.name }, reason, message, metadata: {} });
  }

  async function start(pod: KubernetesObject): Promise<void> {
    const [container] = pod.spec.containers;
    const waiting = (reason: string, message?: string) => {
      pod.status.containerStatuses = [{ name: container.name, state: { waiting: { reason, message } } }];
    };
    pod.status = { phase: "Pending" };
    await Bun.sleep(20);
    if (container.image === IMAGES.unplaceable) {
      const message = "0/3 nodes are available: 3 Insufficient memory.";
      pod.status.conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }];
      return say(pod, "FailedScheduling", message);
    }
    say(pod, "Scheduled", "Successfully assigned the pod to a node");
    waiting("ContainerCreating");
    say(pod, "Pulling", `Pulling image "${container.image}"`);
    await Bun.sleep(30);
    if (container.image === IMAGES.missing) {
      waiting("ErrImagePull", "manifest unknown");
      await Bun.sleep(50);
      return waiting("ImagePullBackOff", `Back-off pulling image "${container.image}": manifest unknown`);
    }
    if (pod.metadata.deletionTimestamp) return;
    launch(pod, container);
  }

  function launch(pod: KubernetesObject, container: KubernetesObject): void {
    const secrets = new Map(objects("secrets").map((secret) => [secret.metadata.name, secret.data]));
    const data: Record<string, string> = secrets.get(container.envFrom[0].secretRef.name) ?? {};
    const service = objects("services").find(({ spec }) =>
      Object.entries(spec.selector).every(([name, value]) => pod.metadata.labels[name] === value),
    );
    const folder = mkdtempSync(join(tmpdir(), "svc-pod-"));
    const decoded = Object.entries(data).map(([name, value]) => [
      name,
      Buffer.from(value, "base64").toString(),
    ]);
    const child = Bun.spawn([join(binaries, "svc-entrypoint")], {
      cwd: folder,
      env: {
        PATH: `${binaries}:/usr/local/bin:/usr/bin:/bin`,
        HOME: folder,
        ...Object.fromEntries(decoded),
        ...Object.fromEntries(container.env.map(({ name, value }: KubernetesObject) => [name, value])),
        SVC_SERVICE_HOST: service.spec.clusterIP,
        POD_UID: pod.metadata.uid,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const made: Running = { child, folder, log: [], bytes: 0 };
    running.set(pod.metadata.name, made);
    for (const stream of [child.stdout, child.stderr]) void keep(stream, made);
    pod.status.phase = "Running";
    pod.status.containerStatuses = [{ name: container.name, state: { running: { startedAt: new Date() } } }];
    say(pod, "Started", "Started container sandbox");
    void child.exited.then((exitCode) => {
      const reason = container.image === IMAGES.greedy ? "OOMKilled" : exitCode === 0 ? "Completed" : "Error";
      pod.status.phase = exitCode === 0 ? "Succeeded" : "Failed";
      pod.status.containerStatuses = [{ name: container.name, state: { terminated: { exitCode, reason } } }];
    });
  }

  return {
    run: (pod) => void start(pod),
    async end(pod, graceSeconds) {
      const { name, uid } = pod.metadata;
      const pods = running.get(name);
      pods?.child.kill("SIGTERM");
      const end = performance.now() + graceSeconds * 1000;
      while (pods && pods.child.exitCode === null && performance.now() < end) await Bun.sleep(20);
      for (let left = marked(uid); left.length > 0; left = marked(uid)) {
        for (const { pid } of left) {
          try {
            process.kill(pid, "SIGKILL");
          } catch {
            // it has just ended
          }
        }
        await Bun.sleep(10);
      }
      if (pods) rmSync(pods.folder, { recursive: true, force: true });
      running.delete(name);
    },
    log: (name) => {
      const pod = running.get(name);
      return pod ? Buffer.concat(pod.log) : null;
    },
    processes: (uid) => marked(uid).map(({ command }) => command),
    async stop() {
      for (const { child, folder } of running.values()) {
        child.kill("SIGKILL");
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

async function keep(stream: ReadableStream<Uint8Array>, pod: Running): Promise<void> {
  for await (const part of stream) {
    pod.log.push(Buffer.from(part));
    pod.bytes += part.length;
    while (pod.bytes > LOG_MAX_BYTES) pod.bytes -= pod.log.shift()?.length ?? pod.bytes;
  }
}
