import { afterAll } from "bun:test";
import { type DockerEngine, startDockerEngine } from "../../scripts/docker-engine.ts";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { LABEL } from "../../src/sandboxes/docker/names.ts";
import type { ProviderOptions } from "../../src/sandboxes/provider.ts";

/** The test command's engine, or one of this process; null if there is none. */
const HOST = await engineHost();

/** For `needs(...DOCKER)`. */
export const DOCKER = ["a Docker engine (as root: dockerd, and what .ci/run makes)", HOST !== null] as const;

/** One request to the Engine API, without svc; an object if the response is JSON. */
// biome-ignore lint/suspicious/noExplicitAny: what the engine answers is looked into by the assertions of the tests
export async function docker(method: string, path: string, body?: unknown): Promise<any> {
  const answer = await fetch(`http://docker${path}`, {
    unix: HOST?.replace(/^unix:\/\//, "") ?? "",
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { "Content-Type": "application/json" },
    }),
    signal: AbortSignal.timeout(WAIT_LIMIT_MS),
  });
  const text = await answer.text();
  if (!answer.ok && answer.status !== 304) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return answer.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text) : text;
}

/**
 * TEST_DOCKER_HOST names an engine that tests may fill with images; empty, the test command found that none can run here.
 * A developer's own engine is left alone unless it is named.
 */
async function engineHost(): Promise<string | null> {
  const given = process.env["TEST_DOCKER_HOST"];
  const host = given ?? (await ownEngine());
  if (!host) return null;
  process.env["DOCKER_HOST"] = host;
  return host;
}

async function ownEngine(): Promise<string | null> {
  const engine = await startDockerEngine();
  if ("missing" in engine) return null;
  stopAfterTests(engine);
  return engine.host;
}

/** This runs before the `afterAll` of files that import this one. */
function stopAfterTests(engine: DockerEngine): void {
  afterAll(() => engine.stop());
}

/** Runs a script of bash in a container outside a sandbox's network namespace, for two seconds at most. @returns what it wrote */
export async function runInContainer(script: string): Promise<string> {
  const images = await docker("GET", "/images/json");
  const tags: string[] = images.flatMap(({ RepoTags }: { RepoTags: string[] | null }) => RepoTags ?? []);
  const { Id } = await docker("POST", "/containers/create", {
    Image: tags.find((tag) => tag.startsWith("svc-default:")),
    Cmd: ["timeout", "2", "bash", "-c", script],
    Tty: true,
  });
  try {
    await docker("POST", `/containers/${Id}/start`);
    await docker("POST", `/containers/${Id}/wait`);
    const output: string = await docker("GET", `/containers/${Id}/logs?stdout=1&stderr=1`);
    return output.replaceAll("\r\n", "\n");
  } finally {
    await docker("DELETE", `/containers/${Id}?force=1&v=1`);
  }
}

/** A container, as the engine lists it. */
interface Listed {
  Names: string[];
  Labels: object;
  Mounts: { Name?: string }[];
}

const namesOf = ({ Names, Labels }: Listed): string => JSON.stringify([Names, Labels]);

/** Containers, networks and volumes that a session has left, by their names and labels. */
export async function leftoversOf({ installation }: ProviderOptions, sessionId: string): Promise<string[]> {
  const list = (): Promise<Listed[]> => docker("GET", "/containers/json?all=1");
  const before = await list();
  const [networks, { Volumes }] = await Promise.all([docker("GET", "/networks"), docker("GET", "/volumes")]);
  const containers = await list();
  const isOf = (name: string) => name.includes(installation) && name.includes(sessionId);
  const names: string[] = [
    ...containers.map(namesOf),
    ...networks.map(({ Name, Labels }: { Name: string; Labels: object }) => JSON.stringify([Name, Labels])),
  ];
  // a session's volumes have no name of their own; those of Compose, of apps and of other containers are of another test
  const volumes: { Name: string; Labels: object | null }[] = Volumes ?? [];
  const ofOthers = ["com.docker.compose.project", LABEL.volume];
  const others = [...before, ...containers].filter((container) => !isOf(namesOf(container)));
  const inUse = new Set(others.flatMap(({ Mounts }) => Mounts.map(({ Name }) => Name)));
  const ofNone = volumes.filter(
    ({ Name, Labels }) => !inUse.has(Name) && !ofOthers.some((label) => Object.hasOwn(Labels ?? {}, label)),
  );
  return [...names.filter(isOf), ...ofNone.map(({ Name }) => `volume ${Name}`)];
}

/** Runs a function with another DOCKER_HOST. */
export async function withDockerHost<T>(host: string, work: () => Promise<T>): Promise<T> {
  const before = process.env["DOCKER_HOST"];
  process.env["DOCKER_HOST"] = host;
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env["DOCKER_HOST"];
    else process.env["DOCKER_HOST"] = before;
  }
}
