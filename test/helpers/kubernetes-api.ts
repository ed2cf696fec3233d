import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Kubelet, startKubelet } from "./kubelet.ts";

/** An object as the API server keeps it; what it holds is looked into where it is used. */
// biome-ignore lint/suspicious/noExplicitAny: JSON of another project's API, which the assertions look into
export type KubernetesObject = any;

/** A fault of one request: a status, a broken connection, or a delay. */
export type Fault = { status: number } | "drop" | { delayMs: number } | null;

/**
 * Stands in for a cluster's API server, as the Kubernetes API reference describes it: the resources and verbs that svc
 * uses, over TLS with an authority of its own, with a bearer token. A kubelet of the tests runs its pods.
 */
export interface KubernetesApi {
  /** Path of a kubeconfig for it. */
  kubeconfig: string;
  objects(kind: Kind): KubernetesObject[];
  requests: string[];
  /** Called for each request. */
  fault: (method: string, path: string) => Fault;
  kubelet: Kubelet;
  stop(): Promise<void>;
}

const KINDS = {
  pods: "Pod",
  services: "Service",
  secrets: "Secret",
  networkpolicies: "NetworkPolicy",
  events: "Event",
} as const;
export type Kind = keyof typeof KINDS;

const TOKEN = "token-of-the-tests";
const PATH =
  /^\/(?:api\/v1|apis\/networking\.k8s\.io\/v1)\/namespaces\/([^/]+)\/(\w+)(?:\/([^/]+))?(\/log)?$/;
/** The API server's limit for a secret. */
const SECRET_MAX_BYTES = 1024 * 1024;
const DNS_LABEL = /^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/;

/** @param binaries where the kubelet finds the programs that an image would hold */
export async function startKubernetes(binaries: string): Promise<KubernetesApi> {
  const folder = mkdtempSync(join(tmpdir(), "svc-kubernetes-"));
  const { ca, cert, key } = await certificates(folder);
  const store = new Map<string, KubernetesObject>();
  const requests: string[] = [];
  let addresses = 0;
  const base = 1 + Math.floor(Math.random() * 200);
  const objects = (kind: Kind) =>
    [...store].flatMap(([path, object]) => (path.startsWith(`${kind}/`) ? [object] : []));
  const kubelet = startKubelet(binaries, objects, (event) => {
    store.set(`events/${crypto.randomUUID()}`, event);
  });

  const server = createServer({ cert, key }, (request, response) => {
    void answer(request, response).catch((error) => fail(response, 500, "InternalError", String(error)));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const kubeconfig = join(folder, "config");
  writeFileSync(kubeconfig, JSON.stringify(configuration(port, ca)));

  const api: KubernetesApi = {
    kubeconfig,
    objects,
    requests,
    fault: () => null,
    kubelet,
    async stop() {
      await kubelet.stop();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return api;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const url = new URL(request.url ?? "/", "https://localhost");
    const method = request.method ?? "GET";
    requests.push(`${method} ${url.pathname}`);
    const fault = api.fault(method, url.pathname);
    if (fault === "drop") {
      return request.socket.destroy();
    }
    if (fault && "status" in fault) return fail(response, fault.status, "Fault", "a fault of the tests");
    if (fault) await Bun.sleep(fault.delayMs);
    if (request.headers.authorization !== `Bearer ${TOKEN}`)
      return fail(response, 401, "Unauthorized", "Unauthorized");
    const [, namespace, kind, name, log] = PATH.exec(url.pathname) ?? [];
    if (!isKind(kind) || namespace !== "sandboxes")
      return fail(response, 404, "NotFound", "no such resource");
    if (method === "GET" && log) return readLog(response, name ?? "", url.searchParams);
    if (method === "GET" && name === undefined) {
      const items = objects(kind).filter((object) => matches(object, url.searchParams));
      return send(response, 200, { kind: `${KINDS[kind]}List`, apiVersion: "v1", metadata: {}, items });
    }
    if (method === "POST") return create(response, kind, JSON.parse(await readBody(request)));
    const object = store.get(`${kind}/${name}`);
    if (!object) return fail(response, 404, "NotFound", `${kind} "${name}" not found`);
    if (method === "GET") return send(response, 200, object);
    if (method !== "DELETE") return fail(response, 405, "MethodNotAllowed", "not here");
    if (kind !== "pods") store.delete(`${kind}/${name}`);
    else {
      const grace = Number(url.searchParams.get("gracePeriodSeconds") ?? 30);
      object.metadata.deletionTimestamp ??= new Date().toISOString();
      void kubelet.end(object, grace).then(() => store.delete(`pods/${name}`));
    }
    return send(response, 200, object);
  }

  function create(response: ServerResponse, kind: Kind, object: KubernetesObject): ServerResponse {
    const { name, labels = {} } = object.metadata ?? {};
    const invalid = [
      ...(DNS_LABEL.test(name) ? [] : [`metadata.name: Invalid value: ${name}`]),
      ...Object.values(labels).flatMap((value) =>
        LABEL_VALUE.test(String(value)) ? [] : [`label: ${value}`],
      ),
      ...(kind === "secrets" && sizeOf(object.data) > SECRET_MAX_BYTES
        ? [`data: Too long: may not be more than ${SECRET_MAX_BYTES} bytes`]
        : []),
    ];
    if (invalid.length > 0)
      return fail(response, 422, "Invalid", `${KINDS[kind]} "${name}" is invalid: ${invalid.join(", ")}`);
    if (store.has(`${kind}/${name}`))
      return fail(response, 409, "AlreadyExists", `${kind} "${name}" already exists`);
    Object.assign(object.metadata, { uid: crypto.randomUUID(), creationTimestamp: new Date().toISOString() });
    // every address of 127.0.0.0/8 is this machine's, so that each service has port 8000 for itself
    if (kind === "services") object.spec.clusterIP = `127.${base}.${++addresses >> 8}.${addresses & 255}`;
    store.set(`${kind}/${name}`, object);
    if (kind === "pods") kubelet.run(object);
    return send(response, 201, object);
  }

  function readLog(response: ServerResponse, name: string, query: URLSearchParams): ServerResponse {
    const log = store.has(`pods/${name}`) ? kubelet.log(name) : null;
    if (!log) return fail(response, 404, "NotFound", `pods "${name}" not found`);
    const lines = log.toString("latin1").split(/(?<=\n)/);
    return response
      .writeHead(200, { "Content-Type": "text/plain" })
      .end(Buffer.from(lines.slice(-Number(query.get("tailLines") ?? 1e9)).join(""), "latin1"));
  }
}

function isKind(name: string | undefined): name is Kind {
  return name !== undefined && Object.hasOwn(KINDS, name);
}

/** `labelSelector` and `fieldSelector` as far as `=` and the bare name of a label go. */
function matches(object: KubernetesObject, query: URLSearchParams): boolean {
  const labels = (query.get("labelSelector") ?? "").split(",").filter(Boolean);
  const fields = (query.get("fieldSelector") ?? "").split(",").filter(Boolean);
  return (
    labels.every((term) => {
      const [name = "", value] = term.split("=");
      const found = object.metadata?.labels?.[name];
      return value === undefined ? found !== undefined : found === value;
    }) &&
    fields.every((term) => {
      const [path = "", value] = term.split("=");
      return path.split(".").reduce((part, name) => part?.[name], object) === value;
    })
  );
}

function sizeOf(data: Record<string, string>): number {
  return Object.values(data).reduce((sum, value) => sum + Buffer.from(value, "base64").length, 0);
}

function send(response: ServerResponse, status: number, body: unknown): ServerResponse {
  return response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

function fail(response: ServerResponse, code: number, reason: string, message: string): ServerResponse {
  return send(response, code, { kind: "Status", apiVersion: "v1", status: "Failure", reason, message, code });
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

function configuration(port: number, ca: string): unknown {
  const cluster = {
    server: `https://127.0.0.1:${port}`,
    "certificate-authority-data": Buffer.from(ca).toString("base64"),
  };
  return {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "tests",
    clusters: [{ name: "tests", cluster }],
    users: [{ name: "tests", user: { token: TOKEN } }],
    contexts: [{ name: "tests", context: { cluster: "tests", user: "tests", namespace: "sandboxes" } }],
  };
}

/** A certificate authority and its certificate for 127.0.0.1. */
async function certificates(folder: string): Promise<{ ca: string; cert: string; key: string }> {
  const at = (name: string) => join(folder, name);
  writeFileSync(at("extensions"), "subjectAltName=IP:127.0.0.1\n");
  const fresh = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const commands = [
    [
      "req",
      "-x509",
      ...fresh,
      "-subj",
      "/CN=authority",
      "-days",
      "2",
      "-keyout",
      at("ca.key"),
      "-out",
      at("ca.crt"),
    ],
    ["req", ...fresh, "-subj", "/CN=127.0.0.1", "-keyout", at("key"), "-out", at("csr")],
    [
      ...["x509", "-req", "-in", at("csr"), "-CA", at("ca.crt"), "-CAkey", at("ca.key"), "-CAcreateserial"],
      ...["-days", "2", "-extfile", at("extensions"), "-out", at("crt")],
    ],
  ];
  for (const command of commands) {
    const ran = Bun.spawn(["openssl", ...command], { stdio: ["ignore", "ignore", "pipe"] });
    if ((await ran.exited) !== 0) throw new Error(await new Response(ran.stderr).text());
  }
  const read = (name: string) => readFileSync(at(name), "utf8");
  return { ca: read("ca.crt"), cert: read("crt"), key: read("key") };
}
