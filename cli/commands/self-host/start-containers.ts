import { createHash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { replace } from "../../config-write.ts";
import { CliError } from "../../failure.ts";
import type { System } from "../../system.ts";
import { hasCaddy, renderCaddyfile } from "./caddy-file.ts";
import { compose } from "./compose.ts";
import { BASE_IMAGE, CADDY_IMAGE, POSTGRES_IMAGE, renderCompose, renderDockerfile } from "./compose-file.ts";
import { docker, type Engine, lastLine, requireImage, socketOf } from "./engine.ts";
import type { Env } from "./env-file.ts";
import type { Stack } from "./stack.ts";

type Shell = Pick<System, "env" | "stderr">;

/** The build installs git from Debian's mirrors. */
const BUILD_MS = 20 * 60_000;
/** Compose waits for the database, which is created on the first start. */
const UP_MS = 5 * 60_000;
/** Root in Caddy's container may read only what everybody may. The folder is its owner's, and no secret is in the file. */
const CADDYFILE_MODE = 0o644;
const REASON_MAX = 1500;
const BASE_VARIABLE = "SVC_SELF_HOST_BASE_IMAGE";
const CADDY_VARIABLE = "SVC_SELF_HOST_CADDY_IMAGE";
const POSTGRES_VARIABLE = "SVC_SELF_HOST_POSTGRES_IMAGE";

/**
 * Builds the image of svc-api and writes the Compose file.
 * @throws CliError `self_host` if an image is missing
 */
export async function prepareContainers(
  system: Shell,
  stack: Stack,
  env: Env,
  engine: Engine,
  note: (text: string) => Promise<void>,
): Promise<void> {
  const postgres = system.env[POSTGRES_VARIABLE] || POSTGRES_IMAGE;
  await requireImage(system, postgres, POSTGRES_VARIABLE);
  const api = await buildImage(system, stack, note);
  const socket = (engine.state === "ready" && socketOf(engine.endpoint)) || "/var/run/docker.sock";
  const caddy = system.env[CADDY_VARIABLE] || CADDY_IMAGE;
  if (hasCaddy(env)) {
    await requireImage(system, caddy, CADDY_VARIABLE);
    await replace(stack.caddyfile, renderCaddyfile(env), CADDYFILE_MODE);
  }
  await replace(stack.composeFile, renderCompose(env, { api, postgres, caddy }, socket, stack));
}

/**
 * Builds the image of svc-api, writes the Compose file and starts its services.
 * @throws CliError `self_host` if an image is missing, or if Compose fails
 */
export async function startContainers(
  system: Shell,
  stack: Stack,
  env: Env,
  engine: Engine,
  note: (text: string) => Promise<void>,
): Promise<void> {
  await prepareContainers(system, stack, env, engine, note);
  await note("Starting the containers …");
  const up = await compose(system, stack, ["up", "--detach", "--remove-orphans"], { ms: UP_MS });
  // a service that fails is found, with its log, by whoever waits for them
  if (up.code === 0 || /unhealthy|exited/.test(up.err)) return;
  throw new CliError("self_host", `Docker Compose cannot start the server: ${end(up.err)}`, {
    hint: "Correct the cause, then run `svc self-host start` again.",
  });
}

/** Removes the images of earlier programs, which nothing uses any more: each has half a gigabyte. */
export async function removeOldImages(system: Shell, { project }: Stack): Promise<void> {
  const repository = `${project}-api`;
  const listed = await docker(system, ["images", "--format", "{{.Repository}}:{{.Tag}}", repository]);
  const images = listed.out.split("\n").filter((image) => image.startsWith(`${repository}:`));
  // an image that a container uses is not removed without --force
  for (const image of images) await docker(system, ["rmi", image]);
}

/** Builds the image unless the engine has it: its tag is a hash of the programs. @returns its name */
async function buildImage(
  system: Shell,
  stack: Stack,
  note: (text: string) => Promise<void>,
): Promise<string> {
  const base = system.env[BASE_VARIABLE] || BASE_IMAGE;
  const image = `${stack.project}-api:${await contentTag(stack, base)}`;
  if ((await docker(system, ["image", "inspect", "--format", "{{.Id}}", image])).code === 0) return image;
  await requireImage(system, base, BASE_VARIABLE);
  await note(`Building the image of svc-api from ${base} …`);
  const built = await docker(
    system,
    ["build", "--build-arg", `BASE=${base}`, "--tag", image, "--file", "-", stack.bin],
    { ms: BUILD_MS, input: renderDockerfile() },
  );
  if (built.code === 0) return image;
  throw new CliError(
    "self_host",
    `Docker cannot build the image of svc-api: ${end(built.err || built.out)}`,
    {
      hint: `The build installs git with apt. Without a connection to Debian's mirrors, set ${BASE_VARIABLE} to an image that has git.`,
    },
  );
}

/** Size and time of each program: contents of a hundred megabytes each are not read at every start. */
async function contentTag({ bin }: Stack, base: string): Promise<string> {
  const hash = createHash("sha256").update(`${base}\n${renderDockerfile()}`);
  for (const name of (await readdir(bin)).toSorted()) {
    const { size, mtimeMs } = await stat(join(bin, name));
    hash.update(`${name} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex").slice(0, 12);
}

/** The end of a program's errors, where the reason is. */
const end = (text: string): string => text.trim().slice(-REASON_MAX) || lastLine(text);
