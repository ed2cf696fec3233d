import { isIP } from "node:net";
import { WALLS } from "../../contract/session.ts";
import { addressesOf, type Resolve, resolveHost } from "../egress/resolve.ts";
import { type Provider, type ProviderOptions, SandboxError } from "../provider.ts";
import { type Cluster, connect } from "./cluster.ts";
import { endSandbox } from "./end.ts";
import { asSandboxError } from "./failure.ts";
import { findObjects, sandboxOf } from "./found.ts";
import { nameOf, type ObjectsSpec } from "./objects.ts";
import { startPod } from "./start.ts";

export interface KubernetesOptions extends ProviderOptions {
  /** `SVC_KUBERNETES_IMAGE`: the image of all sandboxes. */
  image: string | null;
  /** `SVC_KUBERNETES_NAMESPACE`; null: the kubeconfig's. */
  namespace: string | null;
  /** `SVC_KUBERNETES_RUNTIME_CLASS`; null: the cluster's default. */
  runtimeClass: string | null;
  /** Path of a kubeconfig; null: found as kubectl finds it, or the cluster that the server runs in. */
  kubeconfig: string | null;
}

/** A pod's process limit is set by its node. */
const POD_WALLS = WALLS.filter((wall) => wall !== "process_limit");

/**
 * Runs sandboxes as pods: a network policy, a secret, a service and a pod each, all with the same name. All state is in the
 * cluster, found by labels.
 */
export function createKubernetesProvider(options: KubernetesOptions): Provider {
  const { installation } = options;
  let connecting: Promise<Cluster> | null = null;

  /** Connects on the first call; the next call retries after a failure. */
  async function using<T>(doing: string, work: (cluster: Cluster) => Promise<T>): Promise<T> {
    connecting ??= connect(options.kubeconfig, options.namespace);
    try {
      return await work(await connecting);
    } catch (error) {
      throw asSandboxError(error, doing);
    } finally {
      await connecting.catch(() => {
        connecting = null;
      });
    }
  }

  return {
    name: "kubernetes",
    start: (spec, watch, signal) =>
      using("started", async (cluster) => {
        signal.throwIfAborted();
        const { image, apiUrl } = options;
        if (!image) throw missing("SVC_KUBERNETES_IMAGE, the image of sandboxes");
        if (!apiUrl) throw missing("SVC_SANDBOX_API_URL, the URL at which pods reach the server");
        await endSandbox(cluster, installation, spec.sessionId, 0);
        const { sessionId, projectId, generation, limits, egress } = spec;
        const environment = spec.environment(apiUrl);
        const objects: ObjectsSpec = {
          ...{ installation, sessionId, projectId, generation },
          ...{ image, environment, limits, egress, runtimeClass: options.runtimeClass },
          aliases: egress === "open" ? [] : await aliasesOf(apiUrl, options.egress.resolve ?? resolveHost),
        };
        try {
          await watch.step("sandbox");
          if (spec.build) {
            watch.log(
              "svc",
              `Warning: svc does not build images in a cluster. The project's Dockerfile is ignored; the image is ${image}.`,
            );
          }
          if (egress === "restricted") watch.log("svc", ONLY_SVC);
          watch.log("svc", "The cluster's nodes set the sandbox's process limit (podPidsLimit).");
          return await startPod(cluster, spec, objects, watch, signal);
        } catch (error) {
          // anything that remains is listed as a leftover; the error of the start is what matters
          await endSandbox(cluster, installation, sessionId, 0).catch(() => {});
          throw error;
        }
      }),
    volumes: null,
    find: (sessionId) =>
      using("found", async (cluster) => {
        const [found] = await findObjects(cluster, installation, sessionId);
        return found ? sandboxOf(found) : null;
      }),
    list: () => using("listed", async (cluster) => (await findObjects(cluster, installation)).map(sandboxOf)),
    stop: (sessionId, graceMs) =>
      using("ended", (cluster) => endSandbox(cluster, installation, sessionId, graceMs)),
    walls: async () => POD_WALLS,
    wallsOf: () => POD_WALLS,
    logs: (sessionId, maxBytes) =>
      using("read", async (cluster) => {
        const log = await cluster.log(nameOf(installation, sessionId), maxBytes);
        return log ?? new Uint8Array();
      }),
    async close() {},
  };
}

const ONLY_SVC =
  'Warning: in a cluster, a sandbox with the policy "restricted" reaches only svc: the hosts that [network] of svc.toml allows are closed, too.';

/** The addresses of the API's host, for a pod that has no name server. @throws SandboxError when it cannot be resolved */
async function aliasesOf(apiUrl: string, resolve: Resolve): Promise<ObjectsSpec["aliases"]> {
  const { hostname } = new URL(apiUrl);
  if (isIP(hostname.replace(/^\[|\]$/g, "")) !== 0) return [];
  const [ip] = await addressesOf(hostname, resolve).catch(() => []);
  if (ip === undefined) throw new SandboxError("The host of SVC_SANDBOX_API_URL cannot be resolved.");
  return [{ ip, hostnames: [hostname] }];
}

function missing(what: string): SandboxError {
  return new SandboxError(`The server's operator must set ${what}. See docs/kubernetes.md.`, {
    permanent: true,
  });
}
