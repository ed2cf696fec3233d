import ipaddr from "ipaddr.js";

/** A running container. */
interface BareRun {
  /** Milliseconds from the first request to the engine until the container is running. */
  ms: number;
  /** Runs a bash script in it. @returns its output. @throws Error if its exit code is not 0 */
  run(script: string, environment: Record<string, string>): Promise<string>;
  remove(): Promise<void>;
}

/** Sends the requests of `docker run --detach` to the engine: the peer of a sandbox's start. */
export async function runBare(
  host: string,
  image: string,
  [program = "", ...args]: readonly string[],
): Promise<BareRun> {
  const begun = performance.now();
  const body = { Image: image, Entrypoint: [program], Cmd: args };
  const { Id } = await requestJson<{ Id: string }>(host, "POST", "/containers/create", body);
  await request(host, "POST", `/containers/${Id}/start`);
  const ms = performance.now() - begun;
  return {
    ms,
    async run(script, environment) {
      const exec = await requestJson<{ Id: string }>(host, "POST", `/containers/${Id}/exec`, {
        Cmd: ["bash", "-c", script],
        Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
        AttachStdout: true,
        AttachStderr: true,
        // a terminal, so that the output is not framed
        Tty: true,
      });
      const said = await request(host, "POST", `/exec/${exec.Id}/start`, { Detach: false, Tty: true });
      const { ExitCode } = await requestJson<{ ExitCode: number }>(host, "GET", `/exec/${exec.Id}/json`);
      if (ExitCode !== 0) throw new Error(`a script in a container exited with ${ExitCode}: ${said}`);
      return said;
    },
    remove: async () => void (await request(host, "DELETE", `/containers/${Id}?force=1&v=1`)),
  };
}

/** The image of the running container with these labels: the engine may have others, of other servers. */
export async function imageOf(host: string, labels: Readonly<Record<string, string>>): Promise<string> {
  const label = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const query = new URLSearchParams({ filters: JSON.stringify({ label }) });
  const [found] = await requestJson<{ ImageID: string }[]>(host, "GET", `/containers/json?${query}`);
  if (!found) throw new Error(`the engine has no container with ${label.join(" and ")}`);
  return found.ImageID;
}

/** The address of this machine in the engine's default bridge network. */
export async function bridgeOf(host: string): Promise<string> {
  const { IPAM } = await requestJson<{ IPAM: { Config: { Subnet: string; Gateway?: string }[] } }>(
    host,
    "GET",
    "/networks/bridge",
  );
  const ipv4 = IPAM.Config.find(({ Subnet }) => ipaddr.IPv4.isValidCIDR(Subnet));
  if (!ipv4) throw new Error("the engine's bridge has no IPv4 subnet");
  // an engine that has just created its bridge does not report the gateway: it is the first address
  if (ipv4.Gateway) return ipv4.Gateway;
  const first = ipaddr.IPv4.networkAddressFromCIDR(ipv4.Subnet).toByteArray();
  return first.with(3, (first[3] ?? 0) + 1).join(".");
}

/** So long that only an engine that hangs reaches it: one that is building images answers late. */
const ANSWER_MS = 300_000;

async function requestJson<T>(host: string, method: string, path: string, body?: unknown): Promise<T> {
  return JSON.parse(await request(host, method, path, body));
}

/** @returns the body of the engine's response */
async function request(host: string, method: string, path: string, body?: unknown): Promise<string> {
  const answer = await fetch(`http://docker${path}`, {
    unix: host.replace(/^unix:\/\//, ""),
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { "Content-Type": "application/json" },
    }),
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text;
}
