import { afterAll, afterEach, beforeAll, describe, expect } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import {
  createKubernetesProvider,
  type KubernetesOptions,
} from "../../src/sandboxes/kubernetes/kubernetes.ts";
import type { Provider } from "../../src/sandboxes/provider.ts";
import { IMAGES } from "../helpers/kubelet.ts";
import { type KubernetesApi, startKubernetes } from "../helpers/kubernetes-api.ts";
import { needs } from "../helpers/needs.ts";
import { sample } from "../helpers/random.ts";
import { ask, optionsOf, specOf, startApiStandIn, startSandbox, watchOf } from "../helpers/sandbox-bench.ts";
import { standInPrograms } from "../helpers/stand-in-programs.ts";
import { until } from "../helpers/until.ts";
import { conformance } from "./conformance.ts";

/** Every address of 127.0.0.0/8 is a machine's own on Linux only. */
const REQUIRES = [
  "Linux with openssl",
  process.platform === "linux" && Bun.which("openssl") !== null,
] as const;
const KINDS = ["pods", "services", "secrets", "networkpolicies"] as const;

let shared: KubernetesApi | null = null;

conformance({
  name: "kubernetes, on a stand-in of its API server",
  requires: REQUIRES,
  async make(options) {
    shared ??= await startKubernetes(options.binaries);
    const { hostname, port } = options.api();
    const place = { kubeconfig: shared.kubeconfig, namespace: null, image: IMAGES.fine, runtimeClass: null };
    return createKubernetesProvider({ ...options, ...place, apiUrl: `http://${hostname}:${port}` });
  },
  leftovers: async ({ installation }, sessionId) => leftovers(shared, installation, sessionId),
  isolates: false,
  cleanUp: async () => shared?.stop(),
});

describe("kubernetes", () => {
  const test = needs(...REQUIRES);
  let binaries: string;
  let cluster: KubernetesApi;
  let options: KubernetesOptions;
  let provider: Provider;
  const api = startApiStandIn();

  beforeAll(async () => {
    if (!REQUIRES[1]) return;
    binaries = await standInPrograms();
    cluster = await startKubernetes(binaries);
    const place = { kubeconfig: cluster.kubeconfig, namespace: null, image: IMAGES.fine, runtimeClass: null };
    const { hostname, port } = api.address;
    options = { ...optionsOf(api, binaries), ...place, apiUrl: `http://${hostname}:${port}` };
    provider = createKubernetesProvider(options);
  });

  afterEach(() => {
    if (cluster) cluster.fault = () => null;
  });

  afterAll(async () => {
    const left = cluster && KINDS.flatMap((kind) => cluster.objects(kind));
    await cluster?.stop();
    await api.stop();
    if (options) rmSync(options.dataDir, { recursive: true, force: true });
    expect(left ?? []).toEqual([]);
  });

  async function failureOf(changes: Partial<KubernetesOptions>, secrets: Record<string, string> = {}) {
    const spec = specOf(secrets);
    const watch = watchOf();
    const started = createKubernetesProvider({ ...options, ...changes });
    const signal = AbortSignal.timeout(WAIT_LIMIT_MS);
    const error = await started.start(spec, watch, signal).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    cluster.fault = () => null;
    expect(await leftovers(cluster, options.installation, spec.sessionId)).toEqual([]);
    return { error, lines: watch.lines };
  }

  test("a pod has the runtime class that the operator chooses, and the same network policy", async () => {
    const chosen = createKubernetesProvider({ ...options, runtimeClass: "gvisor" });
    const spec = specOf();
    await startSandbox(chosen, spec);
    const isOf = ({ metadata }: { metadata: { labels: object } }) =>
      JSON.stringify(metadata.labels).includes(spec.sessionId);
    expect(cluster.objects("pods").find(isOf).spec.runtimeClassName).toBe("gvisor");
    expect(cluster.objects("networkpolicies").find(isOf).spec.policyTypes).toEqual(["Ingress", "Egress"]);
    await chosen.stop(spec.sessionId, 0);
  });

  test("a pod has no privileges, but limits and a network policy, and no secret in its specification", async () => {
    const limits = { cpus: 1.5, memoryBytes: 2 * 1024 ** 3, diskBytes: 5 * 1024 ** 3, processes: 100 };
    const spec = specOf({ SECRET: "very-secret-value" }, { limits });
    await startSandbox(provider, spec);
    const [pod] = cluster.objects("pods");
    const { labels } = pod.metadata;
    expect(labels).toMatchObject({
      "svc/installation": options.installation,
      "svc/session": spec.sessionId,
      "svc/project": spec.projectId,
      "svc/generation": "1",
    });
    for (const kind of KINDS) expect(cluster.objects(kind)[0].metadata.labels).toEqual(labels);
    expect(JSON.stringify(pod.spec)).not.toContain("very-secret-value");
    expect(JSON.stringify(pod.spec)).not.toContain("svc_sb_of_the_tests");
    expect(pod.spec).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      restartPolicy: "Never",
      securityContext: { seccompProfile: { type: "RuntimeDefault" } },
    });
    const [container] = pod.spec.containers;
    expect(container.securityContext).toMatchObject({
      privileged: false,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
    });
    expect(container.resources.limits).toEqual({
      cpu: "1.5",
      memory: "2147483648",
      "ephemeral-storage": "5368709120",
    });
    for (const forbidden of ["hostNetwork", "hostPID", "hostIPC", "volumes", "runtimeClassName"])
      expect(pod.spec[forbidden]).toBeUndefined();
    const [policy] = cluster.objects("networkpolicies");
    const selector = { "svc/installation": options.installation, "svc/session": spec.sessionId };
    expect(policy.spec.podSelector.matchLabels).toEqual(selector);
    expect(policy.spec.policyTypes).toEqual(["Ingress", "Egress"]);
    const apiPods = {
      namespaceSelector: {},
      podSelector: { matchLabels: { "app.kubernetes.io/name": "svc-api" } },
    };
    expect(policy.spec.ingress).toEqual([{ from: [apiPods], ports: [{ protocol: "TCP", port: 8000 }] }]);
    const internet = policy.spec.egress.find(({ to }: { to: object[] }) =>
      JSON.stringify(to).includes("0.0.0.0/0"),
    );
    const except = internet.to[0].ipBlock.except;
    for (const network of [
      "10.0.0.0/8",
      "172.16.0.0/12",
      "192.168.0.0/16",
      "169.254.0.0/16",
      "100.64.0.0/10",
    ])
      expect(except).toContain(network);
    // it is there before the pod is, and gone after it
    const order = cluster.requests
      .filter((line) => line.startsWith("POST"))
      .map((line) => line.split("/").at(-1));
    expect(order.slice(-4)).toEqual(["networkpolicies", "secrets", "services", "pods"]);
    await provider.stop(spec.sessionId, 5_000);
    const deleted = cluster.requests
      .filter((line) => line.startsWith("DELETE"))
      .map((line) => line.split("/").at(-2));
    expect(deleted.slice(-4)).toEqual(["pods", "services", "secrets", "networkpolicies"]);
  });

  test("Kubernetes' events of a pod are in the session's log", async () => {
    const spec = specOf(
      {},
      { build: { dockerfile: "Dockerfile", hash: "1", context: () => new ReadableStream() } },
    );
    const watch = watchOf();
    await provider.start(spec, watch, AbortSignal.timeout(WAIT_LIMIT_MS));
    const said = watch.lines.join("\n");
    for (const words of ["Scheduled", "Pulling image", "Dockerfile is ignored", "podPidsLimit"])
      expect(said).toContain(words);
    expect(watch.lines).toEqual([...new Set(watch.lines)]);
    await provider.stop(spec.sessionId, 0);
  });

  test("an image that cannot be pulled fails the start with the cluster's message", async () => {
    const { error, lines } = await failureOf({ image: IMAGES.missing });
    expect(error).toMatchObject({ name: "SandboxError", permanent: false });
    expect(String(error)).toContain("manifest unknown");
    expect(lines.join("\n")).toContain("ImagePullBackOff");
  });

  test("a pod without a node waits, and an abort deletes it", async () => {
    const spec = specOf();
    const watch = watchOf();
    const abort = new AbortController();
    const started = createKubernetesProvider({ ...options, image: IMAGES.unplaceable }).start(
      spec,
      watch,
      abort.signal,
    );
    const isKnown = () => watch.lines.join("\n").includes("Insufficient memory");
    await until(() => `it is known why it waits: ${watch.lines.join("\n")}`, isKnown);
    abort.abort();
    expect(
      await started.then(
        () => "started",
        () => "aborted",
      ),
    ).toBe("aborted");
    expect(await leftovers(cluster, options.installation, spec.sessionId)).toEqual([]);
  });

  test("reports that a pod ran out of memory", async () => {
    const spec = specOf();
    const greedy = createKubernetesProvider({ ...options, image: IMAGES.greedy });
    const sandbox = await startSandbox(greedy, spec);
    await ask(sandbox, { do: "die", signal: 9 });
    while ((await greedy.find(spec.sessionId))?.state === "running") await Bun.sleep(20);
    expect(await greedy.find(spec.sessionId)).toMatchObject({
      outOfMemory: true,
      exitCode: 137,
      address: null,
    });
    await greedy.stop(spec.sessionId, 0);
  });

  test("reports missing settings and errors of the API server", async () => {
    expect(String((await failureOf({ image: null })).error)).toContain("SVC_KUBERNETES_IMAGE");
    expect(String((await failureOf({ apiUrl: null })).error)).toContain("SVC_SANDBOX_API_URL");
    const unknown = await failureOf({ kubeconfig: "/nowhere/config" });
    expect(unknown.error).toMatchObject({ name: "SandboxError", permanent: true });
    const large = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`LARGE_${index}`, "x".repeat(60_000)]),
    );
    const tooLarge = await failureOf({}, large);
    expect(tooLarge.error).toMatchObject({ name: "SandboxError", permanent: true });
    expect(String(tooLarge.error)).toContain("may not be more than 1048576 bytes");
    const refused = async (status: number) => {
      cluster.fault = (method) => (method === "POST" ? { status } : null);
      return (await failureOf({})).error;
    };
    expect(await refused(401)).toMatchObject({ name: "SandboxError", permanent: true });
    expect(await refused(403)).toMatchObject({ name: "SandboxError", permanent: true });
    expect(await refused(409)).toMatchObject({ name: "SandboxError", permanent: false });
    expect(await refused(503)).toMatchObject({ name: "SandboxError", permanent: false });
    for (const status of [401, 403, 409, 503]) expect(String(await refused(status))).not.toContain("Bearer");
    // another authority has signed the server's certificate
    const stranger = await startKubernetes(binaries);
    const config = JSON.parse(readFileSync(options.kubeconfig ?? "", "utf8"));
    const other = JSON.parse(readFileSync(stranger.kubeconfig, "utf8"));
    config.clusters[0].cluster.server = other.clusters[0].cluster.server;
    const kubeconfig = join(options.dataDir, "config");
    writeFileSync(kubeconfig, JSON.stringify(config));
    expect(String((await failureOf({ kubeconfig })).error)).toContain("cannot be reached");
    expect(stranger.requests).toEqual([]);
    await stranger.stop();
    cluster.fault = (method) => (method === "POST" ? "drop" : null);
    const dropped = (await failureOf({})).error;
    expect(dropped).toMatchObject({ name: "SandboxError", permanent: false });
  });

  test("retries after broken connections and from a busy API server", async () => {
    let count = 0;
    cluster.fault = (method) => {
      if (method !== "GET") return null;
      const turn = ++count % 4;
      return turn === 1 ? "drop" : turn === 2 ? { status: 503 } : { delayMs: 20 };
    };
    const spec = specOf();
    const sandbox = await provider.start(spec, watchOf(), AbortSignal.timeout(WAIT_LIMIT_MS));
    expect(await provider.find(spec.sessionId)).toEqual(sandbox);
    await provider.stop(spec.sessionId, 0);
    expect(await leftovers(cluster, options.installation, spec.sessionId)).toEqual([]);
    expect(count).toBeGreaterThan(20);
  });

  test.each(sample(2, KINDS))(
    "the next start removes the remains of one that was interrupted after its %s",
    async (kind) => {
      const spec = specOf();
      const failing = createKubernetesProvider(options);
      let isCut = false;
      // as a server that is killed: nothing that it would clean up arrives
      cluster.fault = (method, path) => {
        if (isCut && method !== "GET") return { status: 503 };
        if (method === "POST" && path.endsWith(`/${kind}`))
          setTimeout(() => {
            isCut = true;
          }, 0);
        return null;
      };
      const abort = new AbortController();
      const cut = failing.start(spec, watchOf(), abort.signal).catch(() => {});
      const isMade = async () =>
        (await leftovers(cluster, options.installation, spec.sessionId)).includes(kind);
      while (!(await isMade())) await Bun.sleep(1);
      abort.abort();
      await cut;
      cluster.fault = () => null;
      const listed = await provider.list();
      expect(listed.map(({ sessionId }) => sessionId)).toContain(spec.sessionId);
      const again = await startSandbox(provider, { ...spec, generation: 2 });
      expect(again.generation).toBe(2);
      await provider.stop(spec.sessionId, 0);
      expect(await leftovers(cluster, options.installation, spec.sessionId)).toEqual([]);
    },
  );
});

/** A sandbox's objects, and the processes that the kubelet runs for it. */
async function leftovers(
  cluster: KubernetesApi | null,
  installation: string,
  sessionId: string,
): Promise<string[]> {
  if (!cluster) return [];
  const isOf = ({ metadata }: { metadata: { labels: Record<string, string> } }) =>
    metadata.labels["svc/session"] === sessionId && metadata.labels["svc/installation"] === installation;
  const pods = cluster.objects("pods").filter(isOf);
  return [
    ...KINDS.flatMap((kind) =>
      cluster
        .objects(kind)
        .filter(isOf)
        .map(() => kind),
    ),
    ...pods.flatMap(({ metadata }) => cluster.kubelet.processes(metadata.uid)),
  ];
}
