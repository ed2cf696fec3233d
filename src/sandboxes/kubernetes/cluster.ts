import type { RequestOptions } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import type { CoreV1Api, KubeConfig, NetworkingV1Api, RequestContext } from "@kubernetes/client-node";
import { SandboxError } from "../provider.ts";

/** A cluster, and the namespace of the sandboxes. */
export interface Cluster {
  namespace: string;
  core: CoreV1Api;
  networking: NetworkingV1Api;
  /** The last `maxBytes` of a pod's log; null without a log. */
  log(pod: string, maxBytes: number): Promise<Uint8Array | null>;
}

/** The API server responds from memory. */
const REQUEST_MS = 15_000;
/** A log comes from a node. */
const LOG_MS = 30_000;
/** Attempts of a read, when a connection breaks or the server is busy. */
const TRIES = 3;
const BACKOFF_MS = 200;
/** A list of a thousand pods takes a few megabytes. */
const RESPONSE_MAX_BYTES = 64 * 1024 * 1024;
/** The most lines requested of a log. */
const LOG_LINES = 20_000;

/**
 * Connects to the cluster of `kubeconfig`, else of `KUBECONFIG`, `~/.kube/config`, or the one that the server runs in. The
 * client is loaded on demand, since it is large.
 * @throws SandboxError when there is none
 */
export async function connect(kubeconfig: string | null, namespace: string | null): Promise<Cluster> {
  const client = await import("@kubernetes/client-node");
  const kube = new client.KubeConfig();
  try {
    if (kubeconfig === null) kube.loadFromDefault();
    else kube.loadFromFile(kubeconfig);
  } catch {
    throw new SandboxError("The server's kubeconfig cannot be read.", { permanent: true });
  }
  const server = kube.getCurrentCluster()?.server;
  // the client's default without a configuration
  if (!server || server === "http://localhost:8080") {
    throw new SandboxError("No Kubernetes cluster is configured. Set KUBECONFIG.", { permanent: true });
  }
  const configuration = client.createConfiguration({
    baseServer: new client.ServerConfiguration(server, {}),
    httpApi: client.wrapHttpLibrary({
      async send(request) {
        const response = await sendWithRetries(kube, request);
        const bytes = await readAll(response, RESPONSE_MAX_BYTES);
        const body = {
          text: async () => bytes.toString(),
          binary: async () => bytes,
          stream: () => new Blob([bytes]).stream(),
        };
        return new client.ResponseContext(response.status, Object.fromEntries(response.headers), body);
      },
    }),
  });
  const selected = namespace ?? kube.getContextObject(kube.getCurrentContext())?.namespace ?? "default";
  return {
    namespace: selected,
    core: new client.CoreV1Api(configuration),
    networking: new client.NetworkingV1Api(configuration),
    async log(pod, maxBytes) {
      const path = `/api/v1/namespaces/${selected}/pods/${pod}/log?tailLines=${LOG_LINES}`;
      const response = await send(kube, `${server}${path}`, { signal: AbortSignal.timeout(LOG_MS) });
      if (response.ok) return readEnd(response, maxBytes);
      await response.body?.cancel();
      return null;
    },
  };
}

async function sendWithRetries(kube: KubeConfig, request: RequestContext): Promise<Response> {
  const body = request.getBody();
  for (let tries = 1; ; tries++) {
    const isLast = tries === TRIES || request.getHttpMethod() !== "GET";
    try {
      const response = await send(kube, request.getUrl(), {
        method: request.getHttpMethod(),
        headers: request.getHeaders(),
        ...(typeof body === "string" && { body }),
        signal: AbortSignal.timeout(REQUEST_MS),
      });
      if (isLast || (response.status < 500 && response.status !== 429)) return response;
      await response.body?.cancel();
    } catch (error) {
      if (isLast) throw error;
    }
    await sleep(BACKOFF_MS * tries);
  }
}

/**
 * Replaces the client's transport: it passes certificates to Node's fetch in a way that Bun's fetch ignores, so that
 * clusters with their own certificate authority would not be trusted.
 */
async function send(
  kube: KubeConfig,
  url: string,
  init: { method?: string; headers?: Record<string, string>; body?: string; signal: AbortSignal },
): Promise<Response> {
  const options: RequestOptions = {};
  await kube.applyToHTTPSOptions(options);
  const { ca, cert, key, rejectUnauthorized, servername, auth } = options;
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(options.headers ?? {}))
    if (typeof value === "string") headers.set(name, value);
  if (auth) headers.set("Authorization", `Basic ${Buffer.from(auth).toString("base64")}`);
  const request: BunFetchRequestInit = {
    ...init,
    headers,
    redirect: "manual",
    tls: {
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...((typeof key === "string" || Buffer.isBuffer(key)) && { key }),
      ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
      ...(servername !== undefined && { serverName: servername }),
    },
  };
  return fetch(url, request);
}

async function readAll(response: Response, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > maxBytes) throw new SandboxError("The cluster's response is too large.");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

async function readEnd(response: Response, maxBytes: number): Promise<Uint8Array> {
  let end = Buffer.alloc(0);
  for await (const part of response.body ?? [])
    end = Buffer.concat([end, part]).subarray(maxBytes > 0 ? -maxBytes : Number.POSITIVE_INFINITY);
  return end;
}
