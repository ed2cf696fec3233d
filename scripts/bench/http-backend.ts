import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../free-port.ts";
import { git, INIT_BARE } from "./git.ts";
import { startNginx } from "./nginx.ts";
import { findProgram, start } from "./programs.ts";
import type { Workbench } from "./workbench.ts";

/** `git http-backend`, started by fcgiwrap behind nginx. */
export interface HttpBackend {
  /** Creates an empty repository that anyone may push to. @returns its URL */
  create(name: string): Promise<string>;
}

/** Workers of nginx and of fcgiwrap: a git command sends one request at a time. */
const WORKERS = 4;

/**
 * Starts it on loopback, with all of its files in the folder of the benchmark.
 * @returns `missing` if a program is not installed
 */
export async function startHttpBackend(bench: Workbench): Promise<HttpBackend | { missing: string }> {
  const [nginx, fcgiwrap] = ["nginx", "fcgiwrap"].map(findProgram);
  if (!nginx || !fcgiwrap) return { missing: `${nginx ? "fcgiwrap" : "nginx"} is not installed` };
  const folder = bench.folder("http-backend");
  const root = join(folder, "repositories");
  mkdirSync(root);
  const socket = join(folder, "fcgi.sock");
  const program = join(await git(folder, ["--exec-path"]), "git-http-backend");
  start(bench, folder, [fcgiwrap, "-c", String(WORKERS), "-s", `unix:${socket}`]);
  const server = passTo(socket, { SCRIPT_FILENAME: program, GIT_PROJECT_ROOT: root });
  const url = await startNginx(bench, nginx, { port: freePort(), workers: WORKERS, server });
  return {
    async create(name) {
      const path = join(root, `${name}.git`);
      await git(root, [...INIT_BARE, path]);
      // garbage collection would run during a later round
      await git(path, ["config", "receive.autogc", "false"]);
      return `${url}/${name}.git`;
    },
  };
}

/** Without buffering in either direction, which is the fastest configuration. */
function passTo(socket: string, places: Record<string, string>): string[] {
  const parameters = {
    ...places,
    GIT_HTTP_EXPORT_ALL: "1",
    GIT_PROTOCOL: "$http_git_protocol",
    PATH_INFO: "$uri",
    QUERY_STRING: "$query_string",
    REQUEST_METHOD: "$request_method",
    CONTENT_TYPE: "$content_type",
    CONTENT_LENGTH: "$content_length",
    // http-backend accepts pushes of any REMOTE_USER
    REMOTE_USER: "bench",
  };
  return [
    "location / {",
    `fastcgi_pass unix:${socket};`,
    "fastcgi_request_buffering off;",
    "fastcgi_buffering off;",
    ...Object.entries(parameters).map(([name, value]) => `fastcgi_param ${name} ${value};`),
    "}",
  ];
}
